//! Agents without a model, and agents that ask agents.

use openfang_testkit::{TestHome, callers};
use openfang_types::task::TaskState;

use crate::support::{artifact_names, artifact_text, assert_state, send, status_text};

#[tokio::test]
async fn plain_text_reaches_the_default_tool() {
    let home = TestHome::new();
    let kernel = home.kernel();

    let task = send(&kernel, &callers::local(&kernel), "starter", "Ada").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(artifact_text(&task, "get_greeting-result"), "Hello, Ada!");
}

#[tokio::test]
async fn without_a_default_tool_the_agent_asks_back_and_says_what_it_can_do() {
    let home = TestHome::new().with_direct("calc", &["add_numbers"]);
    let kernel = home.kernel();

    let task = send(&kernel, &callers::admin(&kernel), "calc", "what is one and one?").await;

    assert_state(&task, TaskState::InputRequired);
    assert!(status_text(&task).contains("/add_numbers : Adds two numbers."), "{}", status_text(&task));
    assert!(!status_text(&task).contains("get_greeting"));
}

#[tokio::test]
async fn what_goes_wrong_is_a_failed_task_with_an_error_artifact() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);

    let arguments = send(&kernel, &admin, "starter", "/add_numbers {\"a\": \"three\"}").await;
    assert_state(&arguments, TaskState::Failed);
    assert_eq!(artifact_names(&arguments), ["add_numbers-error"]);
    assert!(status_text(&arguments).contains("\"b\" is a required property"), "{}", status_text(&arguments));
    let json = send(&kernel, &admin, "starter", "/add_numbers {\"a\": ").await;
    assert_state(&json, TaskState::Failed);
    assert!(status_text(&json).contains("is not JSON"));
}

#[tokio::test]
async fn agents_ask_agents_only_so_deep() {
    let ask = "[[rules]]\nsteps = [{ tool = { name = \"agent_send\", arguments = { agent = \"echo\", message = \"again\" } } }]";
    let home = TestHome::new().with_script("echo", &["*"], ask);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);

    let task = send(&kernel, &admin, "echo", "go").await;

    assert_state(&task, TaskState::Completed);
    let said = artifact_text(&task, "agent_send-result");
    assert!(said.contains("agents may call agents 4 deep"), "{said}");
    assert_eq!(kernel.tasks(&admin, openfang_kernel::TaskFilter::default()).await.unwrap().total, 5);
}

#[tokio::test]
async fn agent_list_shows_whom_one_may_ask() {
    let home = TestHome::new().with_direct("calc", &["agent_list"]);
    let kernel = home.kernel();
    let user = callers::user(&kernel, "ada", &["agent:calc/*"]);

    let task = send(&kernel, &user, "calc", "/agent_list").await;

    assert_eq!(artifact_text(&task, "agent_list-result"), "calc: a direct agent");
}
