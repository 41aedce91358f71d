//! One command through every interface, allowed and refused.

use openfang_testkit::callers;
use openfang_testkit::http::Client;
use openfang_types::api::{ApprovalView, DecisionKind};
use openfang_types::config::Config;
use serde_json::json;

use super::super::doors::{Site, at_command_line, command_line, config};
use super::{exec, structured};
use crate::mcp::wire::ask_modern;
use crate::support::call;

fn with_rules(rules: &str) -> Config {
    Config { exec: exec(rules), ..config() }
}

#[tokio::test]
async fn every_interface_runs_what_a_rule_allows_and_nothing_for_those_who_may_not() {
    let site = Site::start(with_rules("allow = [\"printf *\"]")).await;
    let arguments = json!({ "command": "printf 'done %s' here" });

    for (interface, said) in site.call("shell_exec", &arguments).await {
        if interface == "a2a" {
            assert!(said.contains("a person can approve this one call"), "{interface}: {said}");
        } else {
            assert!(said.contains("done here"), "{interface}: {said}");
        }
    }
    for (interface, said) in site.call_refused("shell_exec", &arguments).await {
        assert!(!said.contains("done here"), "{interface}: {said}");
    }
    site.stop().await;
}

#[tokio::test]
async fn over_a2a_a_command_runs_once_it_is_approved_at_this_machine() {
    let site = Site::start(with_rules("allow = [\"printf *\"]")).await;
    let arguments = json!({ "command": "printf 'done %s' here" });
    let a2a = async || site.call("shell_exec", &arguments).await.swap_remove(3).1;
    assert!(!a2a().await.contains("done here"));
    let kernel = &site.server.kernel;
    let operator = callers::operator(kernel);
    let waiting = kernel.approvals(&operator).await.unwrap();
    let asked: &ApprovalView = waiting.iter().find(|asked| asked.tool.as_str() == "shell_exec").unwrap();
    assert!(asked.at_machine && asked.arguments == arguments, "{asked:?}");
    let far = kernel
        .decide_approval(&callers::admin(kernel), asked.id, (DecisionKind::Approve, &asked.digest))
        .await;
    assert_eq!(far.unwrap_err().reason(), "at_this_machine");

    kernel
        .decide_approval(&operator, asked.id, (DecisionKind::Approve, &asked.digest))
        .await
        .unwrap();

    assert!(a2a().await.contains("done here"));
    assert!(!a2a().await.contains("done here"), "an approval is for one call");
    site.stop().await;
}

/// The tools that a client is shown over MCP and HTTP.
async fn listed(client: &Client) -> String {
    let mcp = ask_modern(client, "tools/list", json!({})).await.body;
    mcp + &client.get("/api/tools").await.body
}

#[tokio::test]
async fn callers_without_a_credential_do_not_even_see_it() {
    let open = Config { api_key: None, ..with_rules("allow = [\"printf *\"]") };
    let site = Site::start(open).await;
    let stranger = site.server.client();

    let shown = listed(&stranger).await;

    assert!(shown.contains("file_read") && !shown.contains("shell_exec"), "{shown}");
    let arguments = json!({ "command": "printf done" });
    for (interface, said) in site.call_refused("shell_exec", &arguments).await {
        assert!(!said.contains("\"done"), "{interface}: {said}");
    }
    let called = stranger.post("/api/tools/shell_exec", &json!({ "arguments": arguments })).await;
    let unknown = stranger.post("/api/tools/no_such_tool", &json!({ "arguments": arguments })).await;
    let error = |body: &str| {
        let mut error = serde_json::from_str::<serde_json::Value>(body).unwrap()["error"].clone();
        error["trace"].take();
        error.to_string()
    };
    assert_eq!(error(&called.body).replace("shell_exec", "no_such_tool"), error(&unknown.body));
    site.stop().await;
}

#[test]
fn at_the_command_line_the_operator_runs_what_no_rule_allows_and_not_what_one_denies() {
    let openfang = command_line("[exec]\ndeny = [\"id\"]\n");

    let ran = at_command_line(&openfang, "shell_exec", &json!({ "command": "printf 'a%sb' '; id'" }));
    assert_eq!(ran.0, 0, "{ran:?}");
    assert!(ran.1.starts_with("a; idb\n[exit code 0"), "{ran:?}");
    let failed = at_command_line(&openfang, "shell_exec", &json!({ "command": "false" }));
    assert!(failed.0 != 0 && failed.1.contains("[exit code 1"), "{failed:?}");
    let denied = at_command_line(&openfang, "shell_exec", &json!({ "command": "/usr/bin/id -u" }));
    assert!(denied.0 != 0 && denied.1.contains("the rule \"id\" of [exec] deny covers"), "{denied:?}");

    let _daemon = openfang.start();
    let ran = at_command_line(&openfang, "shell_exec", &json!({ "command": "printf again" }));
    assert_eq!(ran.0, 0, "{ran:?}");
}

#[tokio::test]
async fn the_admin_elsewhere_is_asked_at_this_machine() {
    let shell = super::Shell::new();
    let admin = callers::admin(&shell.kernel);
    let arguments = json!({ "command": "printf done" });

    let refused = call(&shell.kernel, &admin, "shell_exec", arguments.clone()).await.unwrap_err();

    assert_eq!(refused.reason(), "needs_approval");
    assert!(refused.to_string().contains("add \"printf done\" to allow under [exec]"), "{refused}");
    let asked = shell.kernel.approvals(&admin).await.unwrap().swap_remove(0);
    shell
        .kernel
        .decide_approval(&callers::operator(&shell.kernel), asked.id, (DecisionKind::Approve, &asked.digest))
        .await
        .unwrap();
    let output = call(&shell.kernel, &admin, "shell_exec", arguments).await.unwrap();
    assert_eq!(structured(&output)["stdout"], "done");
}
