//! Labels go with what programs read and write.

use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::api::DecisionKind;
use openfang_types::config::Config;
use openfang_types::task::Task;

use super::{exec, helper};
use crate::support::{artifact_names, artifact_text, send};

const SCRIPT: &str = r#"
    [[rules]]
    when = { text = "fetch and run" }
    steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "shell_exec", arguments = { command = "tee page.txt" } } }]
    [[rules]]
    when = { text = "keep" }
    steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "file_write", arguments = { path = "page.txt", content = "foreign" } } }]
    [[rules]]
    when = { text = "copy" }
    steps = [{ tool = { name = "shell_exec", arguments = { command = "cp page.txt copy.txt" } } }]
    [[rules]]
    when = { text = "read copy" }
    steps = [{ tool = { name = "file_read", arguments = { path = "copy.txt" } } }, { tool = { name = "probe_shell" } }]
    [[rules]]
    when = { text = "read page" }
    steps = [{ tool = { name = "file_read", arguments = { path = "page.txt" } } }, { tool = { name = "probe_shell" } }]
    [[rules]]
    when = { text = "look" }
    steps = [{ tool = { name = "shell_exec", arguments = { command = "cat page.txt" } } }, { tool = { name = "probe_shell" } }]
"#;

struct House {
    kernel: openfang_kernel::Kernel,
    _home: TestHome,
}

impl House {
    fn new() -> Self {
        let home = TestHome::new().with_script("worker", &["*"], SCRIPT);
        let config = Config { exec: exec("allow = [\"cp *\", \"cat *\", \"tee *\"]"), ..Config::default() };
        let boot = home.boot_with(config).helper(helper());
        let kernel = boot.tool(Probe::fetch().boxed()).tool(Probe::shell().boxed()).start().unwrap();
        Self { kernel, _home: home }
    }

    async fn send(&self, text: &str) -> Task {
        send(&self.kernel, &callers::operator(&self.kernel), "worker", text).await
    }

    async fn approve(&self) {
        let operator = callers::operator(&self.kernel);
        let asked = self.kernel.approvals(&operator).await.unwrap().swap_remove(0);
        let decision = (DecisionKind::Approve, asked.digest.as_str());
        self.kernel.decide_approval(&operator, asked.id, decision).await.unwrap();
    }

    /// Whether what was read keeps the next call from executing.
    async fn taints(&self, text: &str) -> bool {
        let task = self.send(text).await;
        match artifact_names(&task).last() {
            Some(&"probe_shell-error") => true,
            Some(&"probe_shell-result") => false,
            other => panic!("{other:?}: {task:?}"),
        }
    }
}

#[tokio::test]
async fn in_a_foreign_context_a_command_waits_for_a_person_though_a_rule_allows_it() {
    let house = House::new();

    let task = house.send("fetch and run").await;
    let said = artifact_text(&task, "shell_exec-error");
    assert!(said.contains("content from outside may have led to a call that executes"), "{said}");
    house.approve().await;
    let task = house.send("fetch and run").await;

    assert_eq!(artifact_names(&task), ["probe_fetch-result", "shell_exec-result"]);
    assert!(house.taints("read page").await, "what a program wrote in that context carries it");
}

#[tokio::test]
async fn a_copy_that_a_program_made_carries_what_the_original_does() {
    let house = House::new();
    house.send("keep").await;
    let task = house.send("copy").await;
    assert_eq!(artifact_names(&task), ["shell_exec-result"]);

    assert!(house.taints("read copy").await);
    assert!(house.taints("look").await, "so does the output of a program that can read it");
}

#[tokio::test]
async fn in_a_clean_workspace_programs_taint_nothing() {
    let house = House::new();
    house.send("copy").await;

    assert!(!house.taints("look").await);
}
