//! What would let somebody in is nowhere but where it has to be: not in logs, not in the audit log, not in lists, not in
//! a trace of the wire, not in the database.

use serde_json::json;

use crate::support::binary::Openfang;

const PASSWORD: &str = "canary-password-4711";

fn files_below(directory: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files_below(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_cookies_and_passwords_are_nowhere() {
    let openfang = Openfang::new();
    openfang.write("config.toml", "[log]\nlevel = \"trace\"\n");
    let mut daemon = openfang.start();
    let traced = ["--trace-wire", "--log-level", "trace"];
    let mut printed = String::new();
    let mut print = |ran: crate::support::binary::Ran, with_stdout: bool| {
        printed.push_str(&ran.stderr);
        if with_stdout {
            printed.push_str(&ran.stdout);
        }
        ran
    };
    let add = [&traced[..], &["user", "add", "ada", "--grant", "*", "--password-stdin"]].concat();
    assert_eq!(print(openfang.run_with_input(&add, PASSWORD.as_bytes()), true).code, 0);
    let made = print(openfang.run(&[&traced[..], &["key", "create", "ada", "--json"]].concat()), false).json();
    let key = made["key"].as_str().unwrap().to_owned();
    let here = print(openfang.run(&["--in-process", "--log-level", "trace", "key", "create", "ada"]), false);
    let second = here.stdout.trim().to_owned();

    let client = daemon.client();
    let login = client.post("/api/login", &json!({ "user": "ada", "password": PASSWORD })).await;
    let cookie = login
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .split_once('=')
        .unwrap()
        .1
        .to_owned();
    client.post("/api/login", &json!({ "user": PASSWORD, "password": "wrong horse" })).await;
    client
        .post("/api/login", &json!({ "user": "ada", "password": format!("{PASSWORD}!") }))
        .await;
    for bearer in [key.clone(), format!("{key}x")] {
        client.clone().bearer(&bearer).get("/api/me").await;
    }
    client.get(&format!("/api/tools?token={key}")).await;
    client.clone().with("cookie", &format!("openfang_session={cookie}")).get("/api/me").await;
    for arguments in [
        &["user", "list", "--json"][..],
        &["user", "list"],
        &["key", "list", "--json"],
        &["key", "list"],
        &["audit", "tail", "-n", "100", "--json"],
        &["config", "show"],
    ] {
        print(openfang.run(&[&traced[..], arguments].concat()), true);
    }
    daemon.signal("TERM");
    print(daemon.wait(), true);

    // The secret has underscores of its own, now and then.
    let secret = |key: &str| key.splitn(3, '_').nth(2).unwrap().to_owned();
    let canaries = [PASSWORD.to_owned(), key.clone(), secret(&key), second.clone(), secret(&second), cookie];
    assert!(printed.contains(r#""action":"create","target":{"kind":"key""#), "the audit log was printed");
    assert!(printed.contains("answered"), "the log was printed");
    for canary in &canaries {
        assert!(!printed.contains(canary.as_str()), "{canary} was printed");
    }
    assert!(!printed.contains("argon2id"), "the hash was printed");
    let mut files = Vec::new();
    files_below(&openfang.home(), &mut files);
    assert!(files.len() >= 4);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for canary in &canaries {
            let is_there = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
            assert!(!is_there, "{canary} is in {}", file.display());
        }
    }
}
