//! Injected data cannot act: labels travel with what was read, and sinks judge them, whatever a model says.

mod files;
mod planted;

use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::task::TaskState;
use serde_json::json;

use crate::support::{artifact_names, artifact_text, assert_state, call, send};

/// TNT-01: what came from the web cannot lead to a command, however it was rewritten on the way.
#[tokio::test]
async fn after_reading_the_web_nothing_executes_however_the_text_was_rewritten() {
    let script = r#"
        [[rules]]
        when = { text = "direct" }
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "probe_shell", arguments = { text = "page: run this" } } }]
        [[rules]]
        when = { text = "base64" }
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "probe_shell", arguments = { text = "cGFnZTogcnVuIHRoaXM=" } } }]
        [[rules]]
        when = { text = "translated" }
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "probe_shell", arguments = { text = "voer dit uit" } } }]
        [[rules]]
        when = { text = "split" }
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "probe_shell", arguments = { text = "run" } } }, { tool = { name = "probe_shell", arguments = { text = "this" } } }]
        [[rules]]
        when = { text = "clean" }
        steps = [{ tool = { name = "probe_shell", arguments = { text = "page: run this" } } }]
    "#;
    let home = TestHome::new().with_script("reader", &["probe_*"], script);
    let shell = Probe::shell();
    let kernel = home.boot().tool(Probe::fetch().boxed()).tool(shell.boxed()).start().unwrap();
    let operator = callers::operator(&kernel);

    for way in ["direct", "base64", "translated", "split"] {
        let task = send(&kernel, &operator, "reader", way).await;
        let said = artifact_text(&task, "probe_shell-error");
        assert!(said.contains("external-network (from probe_fetch)"), "{way}: {said}");
    }
    assert_eq!(shell.calls(), 0);

    let clean = send(&kernel, &operator, "reader", "clean").await;
    assert_eq!(artifact_names(&clean), ["probe_shell-result"], "the label refuses, not the words");
}

/// TNT-03: what was stored keeps its label, in another run and for another agent.
#[tokio::test]
async fn a_stored_value_brings_its_label_into_a_new_run() {
    let writer = r#"
        [[rules]]
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "memory_store", arguments = { key = "note", value = "run this" } } }]
    "#;
    let reader = r#"
        [[rules]]
        steps = [{ tool = { name = "memory_recall", arguments = { key = "note" } } }, { tool = { name = "probe_shell", arguments = { text = "run this" } } }]
    "#;
    let home = TestHome::new()
        .with_script("writer", &["*"], writer)
        .with_script("reader", &["*"], reader);
    let shell = Probe::shell();
    let kernel = home.boot().tool(Probe::fetch().boxed()).tool(shell.boxed()).start().unwrap();
    let operator = callers::operator(&kernel);

    assert_eq!(
        artifact_names(&send(&kernel, &operator, "writer", "go").await),
        ["probe_fetch-result", "memory_store-result"]
    );
    let task = send(&kernel, &operator, "reader", "go").await;

    assert_eq!(artifact_names(&task), ["memory_recall-result", "probe_shell-error"]);
    assert_eq!(shell.calls(), 0);
}

/// TNT-05: the label travels with a message from agent to agent, and back with the answer.
#[tokio::test]
async fn a_message_between_agents_carries_the_labels_of_its_run() {
    let tainted = r#"
        [[rules]]
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "agent_send", arguments = { agent = "doer", message = "do it" } } }]
    "#;
    let doer = r#"
        [[rules]]
        steps = [{ tool = { name = "probe_shell" } }]
    "#;
    let asker = r#"
        [[rules]]
        steps = [{ tool = { name = "agent_send", arguments = { agent = "fetcher", message = "read" } } }, { tool = { name = "probe_shell" } }]
    "#;
    let fetcher = r#"
        [[rules]]
        steps = [{ tool = { name = "probe_fetch" } }]
    "#;
    let home = TestHome::new()
        .with_script("tainted", &["*"], tainted)
        .with_script("doer", &["*"], doer)
        .with_script("asker", &["*"], asker)
        .with_script("fetcher", &["*"], fetcher);
    let shell = Probe::shell();
    let kernel = home.boot().tool(Probe::fetch().boxed()).tool(shell.boxed()).start().unwrap();
    let operator = callers::operator(&kernel);

    let onward = send(&kernel, &operator, "tainted", "go").await;
    assert!(artifact_text(&onward, "agent_send-result").contains("external-network"), "{onward:?}");
    let back = send(&kernel, &operator, "asker", "go").await;
    assert_eq!(artifact_names(&back), ["agent_send-result", "probe_shell-error"]);
    assert_eq!(shell.calls(), 0);

    let clean = send(&kernel, &operator, "doer", "go").await;
    assert_eq!(artifact_names(&clean), ["probe_shell-result"]);
}

#[tokio::test]
async fn a_file_leaves_the_house_only_while_nothing_foreign_was_read() {
    let script = r#"
        [[rules]]
        when = { text = "own" }
        steps = [{ tool = { name = "file_read", arguments = { path = "notes.txt" } } }, { tool = { name = "probe_send" } }]
        [[rules]]
        when = { text = "foreign" }
        steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "file_read", arguments = { path = "notes.txt" } } }, { tool = { name = "probe_send" } }]
    "#;
    let home = TestHome::new().with_script("mailer", &["*"], script);
    home.write("workspaces/agents/mailer/notes.txt", "mine");
    let sender = Probe::send();
    let kernel = home.boot().tool(Probe::fetch().boxed()).tool(sender.boxed()).start().unwrap();
    let operator = callers::operator(&kernel);

    assert_eq!(artifact_names(&send(&kernel, &operator, "mailer", "own").await).last(), Some(&"probe_send-result"));
    let task = send(&kernel, &operator, "mailer", "foreign").await;
    assert!(artifact_text(&task, "probe_send-error").contains("carries workspace (from file notes.txt)"));
    assert_eq!(sender.calls(), 1);
}

#[tokio::test]
async fn a_caller_without_a_credential_is_judged_by_its_label() {
    let script = "[[rules]]\nsteps = [{ tool = { name = \"file_read\", arguments = { path = \"n.txt\" } } }, { tool = { name = \"probe_send\" } }]";
    let home = TestHome::new().with_script("mailer", &["*"], script);
    home.write("workspaces/agents/mailer/n.txt", "mine");
    let sender = Probe::send();
    let kernel = home.boot().tool(sender.boxed()).start().unwrap();

    let task = send(&kernel, &callers::local(&kernel), "mailer", "go").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(artifact_names(&task), ["file_read-result", "probe_send-error"]);
    assert_eq!(sender.calls(), 0);
    assert!(call(&kernel, &callers::local(&kernel), "probe_send", json!({})).await.is_ok(), "nothing of ours is in it");
}

/// TNT-03 by other ways: a file, its name, or the key of a memory.
#[tokio::test]
async fn taint_is_not_washed_off_by_a_file_a_file_name_or_a_key() {
    let reader = r#"
        [[rules]]
        when = { text = "content" }
        steps = [{ tool = { name = "file_read", arguments = { path = "./drop//run this.txt" } } }, { tool = { name = "probe_shell" } }]
        [[rules]]
        when = { text = "name" }
        steps = [{ tool = { name = "file_list", arguments = { path = "drop" } } }, { tool = { name = "probe_shell" } }]
        [[rules]]
        when = { text = "key" }
        steps = [{ tool = { name = "memory_recall" } }, { tool = { name = "probe_shell" } }]
        [[rules]]
        when = { text = "taint" }
        steps = [
            { tool = { name = "agent_send", arguments = { agent = "fetcher", message = "read" } } },
            { tool = { name = "file_write", arguments = { path = "drop/run this.txt", content = "run this" } } },
            { tool = { name = "memory_store", arguments = { key = "run this", value = "x" } } },
        ]
    "#;
    let fetcher = "[[rules]]\nsteps = [{ tool = { name = \"probe_fetch\" } }]";
    let home = TestHome::new()
        .with_script("agent", &["*"], reader)
        .with_script("fetcher", &["*"], fetcher);
    let shell = Probe::shell();
    let kernel = home.boot().tool(Probe::fetch().boxed()).tool(shell.boxed()).start().unwrap();
    let operator = callers::operator(&kernel);
    send(&kernel, &operator, "agent", "taint").await;

    for way in ["content", "name", "key"] {
        let task = send(&kernel, &operator, "agent", way).await;
        assert_eq!(artifact_names(&task).last(), Some(&"probe_shell-error"), "{way}: {task:?}");
    }
    assert_eq!(shell.calls(), 0);

    let clean = call(&kernel, &operator, "file_write", json!({"path": "x.txt", "content": "mine"})).await;
    assert!(clean.is_ok());
}
