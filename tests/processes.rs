//! Several processes on one home: they see each other's tasks, stop each other's work, and settle what the dead left.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::binary::{Openfang, Running};

fn with_waiter() -> Openfang {
    let openfang = Openfang::new();
    openfang.write(
        "agents/waiter/agent.toml",
        "name = \"waiter\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n[capabilities]\ntools = [\"*\"]",
    );
    openfang
        .write("agents/waiter/script.toml", "[[rules]]\nsteps = [{ chunk = \"begun\" }, { wait_for_cancel = true }]");
    openfang
}

/// A task that runs in a process of its own while a server runs too.
async fn task_elsewhere(openfang: &Openfang, daemon: &crate::support::binary::Daemon) -> (Running, String) {
    let child = openfang.in_process(&["agent", "send", "waiter", "go", "--json"]);
    let begun = Instant::now();
    loop {
        let working = daemon.client().get("/api/tasks?state=working&includeArtifacts=true").await.json();
        if working["total"] == 1 && working["tasks"][0]["artifacts"].is_array() {
            return (child, working["tasks"][0]["id"].as_str().unwrap().to_owned());
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{working}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_in_another_process_is_watched_and_canceled_through_the_server() {
    let openfang = with_waiter();
    let daemon = openfang.start();
    let (child, id) = task_elsewhere(&openfang, &daemon).await;
    let mut stream = daemon.client().stream("GET", &format!("/api/tasks/{id}/events"), None).await;
    stream.event().await.unwrap();

    let begun = Instant::now();
    let canceled = daemon.client().send("POST", &format!("/api/tasks/{id}/cancel"), None).await;

    assert_eq!(canceled.json()["task"]["status"]["state"], "canceled", "{canceled:?}");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(stream.events().await.last().unwrap().2["body"]["status"]["state"], "canceled");
    let ran = child.finished();
    assert_eq!(ran.json()["task"]["status"]["state"], "canceled", "the process that ran it knows: {ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tasks_of_a_killed_process_are_settled_and_those_of_a_living_one_are_left_alone() {
    let openfang = with_waiter();
    let daemon = openfang.start();
    let (mut living, first) = task_elsewhere(&openfang, &daemon).await;
    let dying = openfang.in_process(&["agent", "send", "waiter", "go", "--json"]);
    while daemon.client().get("/api/tasks?state=working").await.json()["total"] != 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    drop(dying);
    let begun = Instant::now();
    // A script that waits may go on: the server takes it over, and its owner can still stop it.
    let others = || async {
        let tasks = daemon.client().get("/api/tasks").await.json()["tasks"].clone();
        tasks
            .as_array()
            .unwrap()
            .iter()
            .filter(|task| task["id"] != first.as_str())
            .cloned()
            .collect::<Vec<_>>()
    };
    let taken_over = others().await[0]["id"].as_str().unwrap().to_owned();
    loop {
        let canceled = daemon.client().send("POST", &format!("/api/tasks/{taken_over}/cancel"), None).await;
        if canceled.status == 200 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
    assert!(begun.elapsed() < Duration::from_secs(5));

    let left = daemon.client().get(&format!("/api/tasks/{first}")).await.json();
    assert_eq!(left["task"]["status"]["state"], "working", "its process lives");
    assert!(living.is_running());
    daemon.client().send("POST", &format!("/api/tasks/{first}/cancel"), None).await;
    living.finished();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_and_two_other_processes_under_load_never_get_in_each_others_way() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    let by_command_line = || {
        for n in 0..15 {
            let text = format!("/add_numbers {{\"a\": {n}, \"b\": 1}}");
            let ran = openfang.in_process(&["agent", "send", "starter", &text, "--json"]).finished();
            assert_eq!(ran.code, 0, "{ran:?}");
            assert_eq!(ran.json()["task"]["status"]["state"], "completed");
        }
    };
    let by_http = async {
        for n in 0..300 {
            let body = json!({"text": format!("/add_numbers {{\"a\": {n}, \"b\": 1}}")});
            let answer = daemon.client().post("/api/agents/starter/message", &body).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    };

    tokio::task::block_in_place(|| {
        std::thread::scope(|scope| {
            let one = scope.spawn(by_command_line);
            let two = scope.spawn(by_command_line);
            tokio::runtime::Handle::current().block_on(by_http);
            one.join().unwrap();
            two.join().unwrap();
        });
    });

    let tasks = daemon.client().get("/api/tasks?state=completed").await.json();
    assert_eq!(tasks["total"], 330);
    assert_eq!(openfang.run(&["db", "check"]).code, 0);
}

#[test]
fn a_second_server_is_refused_even_when_the_first_does_not_answer() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    std::fs::remove_file(openfang.home().join("daemon.json")).unwrap();

    let second = openfang.run(&["start", "--listen", "127.0.0.1:0"]);

    assert_ne!(second.code, 0);
    assert!(second.stderr.contains("another openfang is already serving this home"), "{}", second.stderr);
    drop(daemon);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_leaves_no_task_working_and_its_open_effect_is_not_repeated() {
    let openfang = with_waiter();
    openfang.write(
        "agents/asker/agent.toml",
        "name = \"asker\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n[capabilities]\ntools = [\"*\"]",
    );
    openfang.write("agents/asker/script.toml", "[[rules]]\nsteps = [{ tool = { name = \"agent_send\", arguments = { agent = \"waiter\", message = \"go\" } } }]");
    let daemon = openfang.start();
    let dying = openfang.in_process(&["agent", "send", "asker", "go", "--json"]);
    while daemon.client().get("/api/tasks?state=working").await.json()["total"] != 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    drop(dying);
    let begun = Instant::now();
    loop {
        let asked = daemon.client().get("/api/tasks?agent=asker").await.json()["tasks"][0]["status"].clone();
        if asked["state"] == "failed" {
            assert!(asked["message"]["parts"][0]["text"].as_str().unwrap().starts_with("interrupted"), "{asked}");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{asked}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
