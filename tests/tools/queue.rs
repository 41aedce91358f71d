//! The work queue: posted, claimed and completed through every interface, with the labels of what was posted, and by
//! processes that are killed.

use std::collections::BTreeSet;

use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use serde_json::{Value, json};

use super::doors::{Site, at_command_line, command_line, config};
use crate::support::{artifact_text, call, send};

fn id_of(said: &str) -> String {
    said.split_whitespace()
        .find(|word| word.len() == 36)
        .unwrap_or_else(|| panic!("{said}"))
        .to_owned()
}

#[tokio::test]
async fn every_interface_reaches_the_queue_of_its_owner() {
    let site = Site::start(config()).await;
    let task = json!({ "title": "sweep", "description": "the \u{1f9f9} floor", "priority": 1 });

    for (interface, said) in site.call("task_post", &task).await {
        assert!(said.contains("posted "), "{interface}: {said}");
    }
    for (interface, said) in site.call("task_list", &json!({ "status": "pending" })).await {
        assert_eq!(said.matches("pending sweep").count(), 4, "{interface}: {said}");
    }
    let mut claimed = Vec::new();
    for (interface, said) in site.call("task_claim", &json!({})).await {
        let at = said.find("claimed ").unwrap() + "claimed ".len();
        claimed.push((interface, said[at..at + 36].to_owned()));
        assert!(said.contains("(attempt 1)") && said.contains("floor"), "{interface}: {said}");
    }
    for (interface, said) in site.call("task_claim", &json!({})).await {
        assert!(said.contains("there is no task to claim"), "{interface}: {said}");
    }
    for (interface, id) in claimed {
        let end = json!({ "task_id": id, "result": "swept", "attempt": 1 });
        let said = site.call("task_complete", &end).await;
        let (_, own) = said.iter().find(|(name, _)| *name == interface).unwrap();
        let is_first = said.iter().position(|(_, said)| said.contains(&format!("completed {id}"))).unwrap();
        // HTTP and MCP are one worker, and the agent is another one over both of its interfaces.
        assert!(own.contains("completed"), "{interface}: {own}");
        assert_eq!(is_first, if matches!(interface, "http" | "mcp") { 0 } else { 2 }, "{said:?}");
    }
    for tool in ["task_post", "task_list", "task_claim"] {
        let arguments = if tool == "task_post" { task.clone() } else { json!({}) };
        for (interface, said) in site.call_refused(tool, &arguments).await {
            let is_refused = !["posted ", "pending sweep", "no task to claim"].iter().any(|fact| said.contains(fact));
            assert!(is_refused, "{interface} {tool}: {said}");
        }
    }
    site.stop().await;
}

#[test]
fn the_command_line_posts_claims_and_completes() {
    let openfang = command_line("");
    let run = |arguments: &[&str]| openfang.run(arguments);

    let posted = run(&["queue", "post", "sweep", "the floor", "--priority", "-3"]);
    assert_eq!(posted.code, 0, "{posted:?}");
    let id = id_of(&posted.stdout);
    assert!(run(&["queue", "list", "--status", "pending"]).stdout.contains("pending sweep"));
    let early = run(&["queue", "complete", &id, "done"]);
    assert!(early.code == 1 && (early.stdout + &early.stderr).contains("claim it with task_claim first"));
    assert!(run(&["queue", "claim", "--lease-secs", "60"]).stdout.contains("the floor"));
    assert_eq!(run(&["queue", "complete", &id, "swept"]).stdout, format!("completed {id}\n"));
    let again = run(&["queue", "complete", &id, "swept"]);
    assert!(again.code == 1 && (again.stdout + &again.stderr).contains("completed already"));
    let listed = run(&["queue", "list", "--json"]).json();
    assert_eq!(listed["structuredContent"]["tasks"][0]["result"], "swept");
}

#[tokio::test]
async fn arguments_out_of_bounds_and_tasks_of_others_are_refused() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let (admin, ada) = (callers::admin(&kernel), callers::user(&kernel, "ada", &["task_*"]));
    let posted = call(&kernel, &admin, "task_post", json!({ "title": "a", "description": "b" }))
        .await
        .unwrap();
    let id = posted.structured_value().unwrap()["task_id"].clone();
    call(&kernel, &admin, "task_claim", json!({})).await.unwrap();

    for (tool, arguments) in [
        ("task_post", json!({ "title": "", "description": "x" })),
        ("task_post", json!({ "title": "a\nb", "description": "x" })),
        ("task_post", json!({ "title": "x".repeat(201), "description": "x" })),
        ("task_post", json!({ "title": "a", "description": "x".repeat(32 * 1024 + 1) })),
        ("task_post", json!({ "title": "a", "description": "x", "assigned_to": "nobody" })),
        ("task_post", json!({ "title": "a", "description": "x", "priority": 101 })),
        ("task_claim", json!({ "lease_secs": 0 })),
        ("task_claim", json!({ "lease_secs": 1_000_000_000 })),
        ("task_list", json!({ "status": "gone" })),
        ("task_list", json!({ "before": "x" })),
        ("task_complete", json!({ "task_id": "x", "result": "" })),
        ("task_complete", json!({ "task_id": id, "result": "x".repeat(64 * 1024 + 1) })),
        ("task_complete", json!({ "task_id": id, "result": "", "attempt": 2 })),
    ] {
        let ended = call(&kernel, &admin, tool, arguments.clone()).await;
        assert!(ended.map_or(true, |output| output.is_error), "{tool} {arguments}");
    }
    let foreign = call(&kernel, &ada, "task_complete", json!({ "task_id": id, "result": "" }))
        .await
        .unwrap();
    let unknown = "00000000-0000-4000-8000-000000000001";
    let none = call(&kernel, &ada, "task_complete", json!({ "task_id": unknown, "result": "" }))
        .await
        .unwrap();
    assert_eq!(foreign, none);
    assert_eq!(call(&kernel, &ada, "task_list", json!({})).await.unwrap().joined_text(), "(no tasks)");
    let done = call(&kernel, &admin, "task_complete", json!({ "task_id": id, "result": "", "attempt": 1 }))
        .await
        .unwrap();
    assert!(!done.is_error);
}

#[tokio::test]
async fn what_was_posted_after_reading_the_web_taints_whoever_claims_it() {
    let poster = r#"
        [[rules]]
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "task_post", arguments = { title = "t", description = "run this" } } }]
    "#;
    let worker = r#"
        [[rules]]
        steps = [{ tool = { name = "task_claim" } }, { tool = { name = "probe_shell" } }]
    "#;
    let home = TestHome::new()
        .with_script("poster", &["*"], poster)
        .with_script("worker", &["*"], worker);
    let shell = Probe::shell();
    let kernel = home.boot().tool(Probe::fetch().boxed()).tool(shell.boxed()).start().unwrap();
    let operator = callers::operator(&kernel);

    send(&kernel, &operator, "poster", "go").await;
    let task = send(&kernel, &operator, "worker", "go").await;

    assert!(artifact_text(&task, "task_claim-result").contains("run this"));
    assert!(artifact_text(&task, "probe_shell-error").contains("external-network (from probe_fetch)"));
    assert_eq!(shell.calls(), 0);
}

/// Claimers at the command line on one home, and a daemon that is killed among them: each task is completed once.
#[test]
fn a_task_is_completed_once_although_claimers_are_killed() {
    const TASKS: usize = 12;
    let openfang = command_line("");
    let daemon = openfang.start();
    for number in 0..TASKS {
        let (code, said) =
            at_command_line(&openfang, "task_post", &json!({ "title": format!("t{number}"), "description": "x" }));
        assert_eq!(code, 0, "{said}");
    }
    let mut children: Vec<_> = (0..4)
        .map(|_| openfang.spawn(&["--in-process", "queue", "claim", "--lease-secs", "1"]))
        .collect();
    children.iter_mut().for_each(|child| drop(child.kill()));
    children.iter_mut().for_each(|child| drop(child.wait()));
    drop(daemon);

    let mut completed = BTreeSet::new();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while completed.len() < TASKS && std::time::Instant::now() < deadline {
        let claimed = openfang.run(&["queue", "claim", "--json"]).json();
        let task: &Value = &claimed["structuredContent"]["task"];
        let Some(id) = task["id"].as_str() else { continue };
        let attempt = task["attempt"].to_string();
        let ended = openfang.run(&["queue", "complete", id, "done", "--attempt", &attempt]);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(completed.insert(id.to_owned()), "{id} was completed twice");
    }
    assert_eq!(completed.len(), TASKS);
}
