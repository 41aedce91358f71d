//! Children: they die with their values, and a product that fails says why.

use super::*;

/// Written by a child: were it open for writing here, a fork in another test could keep it busy.
fn script(directory: &Path, text: &str) -> PathBuf {
    let path = directory.join("openfang");
    let write = r#"printf '#!/bin/sh\n%s\n' "$1" > "$0" && chmod 755 "$0""#;
    let written = program(Path::new("/bin/sh")).args(["-c", write]).arg(&path).arg(text).status();
    assert!(written.unwrap().success());
    path
}

fn sleeper() -> Child {
    program(Path::new("/bin/sleep")).arg("60").spawn().unwrap()
}

#[test]
fn a_dropped_child_is_dead_and_reaped_whether_or_not_it_had_started() {
    let (server, starting) = (sleeper(), sleeper());
    let pids = [server.id(), starting.id()];

    drop(Server { child: server, address: String::new() });
    drop(Starting(Some(starting)));

    for pid in pids {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "process {pid} is still there");
    }
}

#[test]
fn a_child_that_was_handed_over_lives_until_its_server_is_dropped() {
    let server = Starting(Some(sleeper())).started("127.0.0.1:1".to_owned()).unwrap();

    let proc = format!("/proc/{}", server.pid());
    assert!(Path::new(&proc).exists());
    drop(server);
    assert!(!Path::new(&proc).exists());
}

#[tokio::test]
async fn a_product_that_ends_before_it_answers_is_an_error_with_its_log() {
    let directory = TempDir::new().unwrap();
    let home = Home::new(&script(directory.path(), "echo unknown key >&2; exit 64"), "").unwrap();

    let error = home.start().await.unwrap_err().to_string();

    assert!(error.contains("64") && error.contains("unknown key"), "{error}");
}

#[tokio::test]
async fn a_product_sees_its_home_with_the_config_and_nothing_of_our_environment() {
    let directory = TempDir::new().unwrap();
    let script = script(directory.path(), r#"echo "args=$* cargo=$CARGO"; cat "$OPENFANG_HOME/config.toml"; exit 1"#);
    let home = Home::new(&script, "").unwrap();

    let error = home.start().await.unwrap_err().to_string();

    assert!(error.contains("args=start cargo=\n") && error.contains(&scenarios::config("")), "{error}");
}
