//! Who may do what: the authority rule, with principals of every kind.

use openfang_kernel::{Hidden, KernelError, ToolError};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::task::TaskState;
use serde_json::json;

use crate::support::{artifact_names, assert_state, call, send};

#[tokio::test]
async fn a_direct_call_needs_the_users_own_grant() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let numbers = json!({"a": 1, "b": 2});

    let granted = callers::user(&kernel, "ada", &["add_*"]);
    assert!(call(&kernel, &granted, "add_numbers", numbers.clone()).await.is_ok());
    for grants in [&[][..], &["get_*"], &["agent:starter"], &["agent:starter/*"]] {
        let user = callers::user(&kernel, "bob", grants);
        let refused = call(&kernel, &user, "add_numbers", numbers.clone()).await.unwrap_err();
        let (tool, hidden) = ("add_numbers".parse().unwrap(), Hidden::NotGranted);
        assert_eq!(
            refused,
            KernelError::Tool(ToolError::Unknown { tool, profiles: String::new(), hidden }),
            "{grants:?}"
        );
    }
}

#[tokio::test]
async fn a_tool_that_is_not_granted_looks_like_one_that_does_not_exist() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let user = callers::user(&kernel, "ada", &["get_greeting"]);

    let hidden = call(&kernel, &user, "add_numbers", json!({})).await.unwrap_err().to_string();
    let missing = call(&kernel, &user, "add_nothing", json!({})).await.unwrap_err().to_string();
    assert_eq!(hidden.replace("add_numbers", "X"), missing.replace("add_nothing", "X"));
    let listed = kernel.available_tools(&user, None).unwrap();
    assert_eq!(listed.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["get_greeting"]);
}

#[tokio::test]
async fn through_an_agent_both_the_agent_and_the_user_must_be_allowed() {
    let home = TestHome::new().with_direct("calc", &["add_*"]);
    let kernel = home.kernel();
    let add = "/add_numbers {\"a\": 1, \"b\": 2}";

    let rows: [(&[&str], TaskState); 3] = [
        (&["agent:calc"], TaskState::Failed),
        (&["agent:calc", "add_numbers"], TaskState::Completed),
        (&["agent:calc/*"], TaskState::Completed),
    ];
    for (n, (grants, expected)) in rows.into_iter().enumerate() {
        let user = callers::user(&kernel, &format!("u{n}"), grants);
        assert_state(&send(&kernel, &user, "calc", add).await, expected);
    }

    let everything = callers::user(&kernel, "eve", &["*", "agent:calc"]);
    let beyond = send(&kernel, &everything, "calc", "/get_greeting").await;
    assert_state(&beyond, TaskState::Failed);
    assert_eq!(artifact_names(&beyond), ["get_greeting-error"], "the agent's own patterns do not cover it");
}

#[tokio::test]
async fn an_agent_that_one_may_not_talk_to_does_not_exist() {
    let home = TestHome::new().with_direct("calc", &["add_*"]);
    let kernel = home.kernel();
    let user = callers::user(&kernel, "ada", &["*", "agent:starter"]);
    let ask = async |agent: &str| {
        kernel
            .submit(&user, &agent.parse().unwrap(), kernel.message("hi"))
            .await
            .unwrap_err()
            .to_string()
    };

    assert_eq!(ask("calc").await.replace("calc", "X"), ask("nobody").await.replace("nobody", "X"));
    let seen = kernel.agents(&user.principal);
    assert_eq!(seen.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), ["starter"]);
}

#[tokio::test]
async fn through_agent_send_the_principal_stays() {
    let home = TestHome::new()
        .with_direct("front", &["agent_send"])
        .with_direct("back", &["add_numbers"]);
    let kernel = home.kernel();
    let ask = r#"/agent_send {"agent": "back", "message": "/add_numbers {\"a\": 1, \"b\": 2}"}"#;

    let both = callers::user(&kernel, "ada", &["agent:front/*", "agent:back/*"]);
    assert_state(&send(&kernel, &both, "front", ask).await, TaskState::Completed);

    let front_only = callers::user(&kernel, "bob", &["agent:front/*", "add_numbers"]);
    let refused = send(&kernel, &front_only, "front", ask).await;
    assert_state(&refused, TaskState::Failed);
    assert!(crate::support::status_text(&refused).contains("there is no agent back"));
}

#[tokio::test]
async fn a_local_caller_gets_no_tool_that_executes() {
    let home = TestHome::new();
    let shell = Probe::shell();
    let kernel = home.boot().tool(shell.boxed()).start().unwrap();

    let local = callers::local(&kernel);
    assert!(call(&kernel, &local, "probe_shell", json!({})).await.is_err());
    assert!(
        !kernel
            .available_tools(&local, None)
            .unwrap()
            .iter()
            .any(|tool| tool.name.as_str() == "probe_shell")
    );
    assert_eq!(shell.calls(), 0);
    assert!(call(&kernel, &callers::operator(&kernel), "probe_shell", json!({})).await.is_ok());
}
