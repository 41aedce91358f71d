//! The programs behind servers: what they are given, and that none of them stays.

use std::path::Path;
use std::time::Duration;

use openfang_testkit::TestHome;
use openfang_types::config::{EnvEntry, McpServerConfigEntry};
use openfang_types::mcp_status::McpServerState;
use serde_json::{Value, json};

use super::fixture::{House, PATIENCE, odd, script};
use crate::children::fixture::{Driver, driven, mark, marked, none, until, zombies_of};
use crate::support::binary::{Daemon, Openfang};

const SOON: Duration = Duration::from_secs(2);
const CYCLES: usize = 1_000;
const SERVERS: usize = 20;

fn env(entries: &[&str]) -> Vec<EnvEntry> {
    entries.iter().map(|entry| EnvEntry::new((*entry).to_owned())).collect()
}

/// A server that is up in a moment, and marked.
fn quick(name: &str, mark: &str) -> McpServerConfigEntry {
    let mut entry = super::fixture::program(name, &["sh".to_owned(), script("quick.sh")]);
    entry.env = env(&[&format!("MARK={mark}")]);
    entry
}

#[tokio::test]
async fn drive_a_look_at_the_environment() {
    let Some(directory) = driven() else { return };
    let mut entry = odd("peer", &[]);
    entry.env = env(&["FIXED=as it stands", "FILLED=before ${INNER} behind", "PASSED"]);
    let house = House::with([entry]).await;
    house.ready("peer").await;
    let given = house.says("mcp_peer_environment", json!({})).await;
    house.close().await;
    std::fs::write(directory.join("given"), given).unwrap();
}

#[tokio::test]
async fn a_server_is_given_what_its_entry_says_and_nothing_else_of_ours() {
    let mut driver = Driver::new("gateway::processes::drive_a_look_at_the_environment");
    driver.through_shell("export INNER=inner PASSED=passed OPENFANG_API_KEY=canary GITHUB_TOKEN=canary");

    driver.run();

    let given = std::fs::read_to_string(driver.directory.path().join("given")).unwrap();
    assert!(!given.contains("canary"), "{given}");
    let given: Value = serde_json::from_str(&given).unwrap();
    assert_eq!(given["FIXED"], "as it stands");
    assert_eq!(given["FILLED"], "before inner behind");
    assert_eq!(given["PASSED"], "passed");
    let listed = ["FIXED", "FILLED", "PASSED"];
    // Python sets the last one by itself.
    let usual = ["PATH", "HOME", "USER", "LANG", "TMPDIR", "SHELL", "TERM", "LC_CTYPE"];
    for name in given.as_object().unwrap().keys() {
        assert!(usual.contains(&name.as_str()) || listed.contains(&name.as_str()), "{name} was given too");
    }
}

#[tokio::test]
async fn a_variable_that_is_not_set_fails_its_server_and_nothing_else() {
    let mut lacking = odd("lacking", &[]);
    lacking.env = env(&["TOKEN=${OPENFANG_TEST_NEVER_SET}"]);
    let missing = super::fixture::program("missing", &["openfang-test-no-such-program".to_owned()]);
    let house = House::with([lacking, missing, odd("good", &[])]).await;

    let reason = house.failed("lacking").await.reason.unwrap();
    assert!(reason.contains("OPENFANG_TEST_NEVER_SET"), "{reason}");
    let reason = house.failed("missing").await.reason.unwrap();
    assert!(reason.contains("openfang-test-no-such-program"), "{reason}");
    house.ready("good").await;
    assert_eq!(house.says("mcp_good_echo", json!({"text": "hello"})).await, "hello");
    house.close().await;
}

/// Twenty servers; every other one has a child of its own, some in a session of their own.
fn with_twenty_servers(mark: &str) -> (Openfang, Daemon) {
    let openfang = Openfang::new();
    let quick = script("quick.sh");
    let mut config = String::new();
    for number in 0..SERVERS {
        let before = match number % 4 {
            1 => "sleep 3600 & ",
            3 => "sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & ",
            _ => "",
        };
        let command = format!("{before}exec sh {quick}");
        config.push_str(&format!(
            "[[mcp_servers]]\nname = \"s{number}\"\nenv = [\"MARK={mark}\"]\n\
             transport = {{ type = \"stdio\", command = \"sh\", args = [\"-c\", {command:?}] }}\n"
        ));
    }
    openfang.write("config.toml", &config);
    let daemon = openfang.start();
    (openfang, daemon)
}

async fn all_are_ready(daemon: &Daemon, mark: &str) {
    let begun = tokio::time::Instant::now();
    loop {
        let listed = daemon.client().get("/api/tools").await.body;
        let up = (0..SERVERS).filter(|number| listed.contains(&format!("\"mcp_s{number}_hello\""))).count();
        if up == SERVERS {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "only {up} servers are ready");
    }
    assert!(marked(mark).len() >= SERVERS + SERVERS / 2, "{:?}", marked(mark));
}

/// CRS-04.
#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_killed_takes_its_servers_and_their_children_with_it() {
    let mark = mark();
    let (_openfang, mut daemon) = with_twenty_servers(&mark);
    all_are_ready(&daemon, &mark).await;

    daemon.signal("KILL");
    daemon.wait();

    until(SOON, || none(marked(&mark))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_every_server_within_the_time_to_drain() {
    let mark = mark();
    let (openfang, mut daemon) = with_twenty_servers(&mark);
    all_are_ready(&daemon, &mark).await;
    let begun = tokio::time::Instant::now();

    let ran = tokio::task::spawn_blocking(move || openfang.run(&["stop"])).await.unwrap();
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = daemon.wait();

    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(begun.elapsed() < Duration::from_secs(30));
    until(SOON, || none(marked(&mark))).await;
}

/// A conversation for each, and only so many: the others wait in line.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_calls_at_once_of_a_server_that_may_ask_are_all_answered() {
    let mut entry = super::fixture::program("asking", &["sh".to_owned(), script("quick.sh")]);
    (entry.interactive, entry.timeout_secs) = (true, 90);
    let house = House::on(TestHome::new(), [entry]).await;
    house.ready("asking").await;

    let calls = (0..100).map(|_| house.says("mcp_asking_hello", json!({})));
    let said = futures_util::future::join_all(calls).await;

    assert!(said.iter().all(|said| said == "hello"), "{said:?}");
    house.close().await;
}

/// A server that may ask its callers has a process for each call that is under way; none of them stays either.
#[tokio::test]
async fn conversations_of_one_caller_each_end_with_the_house() {
    let mark = mark();
    let mut entry = quick("asking", &mark);
    entry.interactive = true;
    let house = House::with([entry]).await;
    house.ready("asking").await;
    let calls = (0..40).map(|_| house.call_at("/mcp/servers/asking", "hello", json!({})));

    let results = futures_util::future::join_all(calls).await;

    assert!(results.iter().all(|result| result["content"][0]["text"] == "hello"), "{results:?}");
    assert!(marked(&mark).len() <= 41, "{:?}", marked(&mark));
    house.close().await;
    until(SOON, || none(marked(&mark))).await;
}

#[tokio::test]
async fn drive_a_thousand_connections() {
    let Some(directory) = driven() else { return };
    let mark = mark();
    let house = House::on(TestHome::new(), [quick("quick", &mark)]).await;
    house.ready("quick").await;
    // The first few leave what is there once: threads, the reaper, buffers.
    for _ in 0..10 {
        house.reconnect("quick").await;
    }
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    until(PATIENCE, || one(marked(&mark))).await;
    let (before, tasks_before) = (descriptors(), tasks());

    for _ in 0..CYCLES {
        let status = house.reconnect("quick").await;
        assert_eq!(status.state, McpServerState::Ready, "{status:?}");
    }

    until(PATIENCE, || one(marked(&mark))).await;
    until(PATIENCE, || at_most(descriptors(), before)).await;
    until(PATIENCE, || at_most(tasks(), tasks_before)).await;
    assert_eq!(zombies_of(std::process::id()), Vec::<String>::new());
    assert_eq!(house.status("quick").starts, CYCLES as u64 + 11);
    house.close().await;
    until(SOON, || none(marked(&mark))).await;
    std::fs::write(directory.join("done"), "").unwrap();
}

#[tokio::test]
async fn a_thousand_connections_leave_no_process_no_descriptor_and_no_task() {
    let mut driver = Driver::new("gateway::processes::drive_a_thousand_connections");
    driver.run();
    assert!(Path::new(&driver.directory.path().join("done")).exists());
}

fn one(list: Vec<i32>) -> Result<(), Vec<i32>> {
    if list.len() == 1 { Ok(()) } else { Err(list) }
}

fn at_most(now: usize, before: usize) -> Result<(), String> {
    if now <= before { Ok(()) } else { Err(format!("{now}, and {before} before")) }
}
