//! Secrets do not travel: configured ones nowhere, secret-looking ones not out of a run.

use openfang_kernel::{KernelError, ToolError};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::{Config, PiiConfig};
use openfang_types::secret::Secret;
use serde_json::json;

use crate::support::{artifact_names, call, send};

const CANARY: &str = "canary-key-4711-0815";

fn config() -> Config {
    Config { api_key: Some(Secret::new(CANARY.to_owned())), ..Config::default() }
}

#[tokio::test]
async fn a_configured_secret_is_refused_as_an_argument_of_any_tool() {
    let home = TestHome::new();
    let kernel = home.boot_with(config()).start().unwrap();

    for caller in [callers::admin(&kernel), callers::operator(&kernel)] {
        let said = call(&kernel, &caller, "get_greeting", json!({"name": format!("x {CANARY} y")}))
            .await
            .unwrap_err();
        assert!(matches!(said, KernelError::Tool(ToolError::SecretInArguments(_))), "{said}");
        assert!(!said.to_string().contains(CANARY));
    }
}

#[tokio::test]
async fn a_configured_secret_is_taken_out_of_answers_to_anybody_but_the_operator() {
    let home = TestHome::new();
    let kernel = home
        .boot_with(config())
        .tool(Probe::say(&format!("key={CANARY}!")).boxed())
        .start()
        .unwrap();

    let to_admin = call(&kernel, &callers::admin(&kernel), "probe_say", json!({})).await.unwrap();
    assert_eq!(to_admin.joined_text(), "key=[redacted]!");
    let to_operator = call(&kernel, &callers::operator(&kernel), "probe_say", json!({})).await.unwrap();
    assert_eq!(to_operator.joined_text(), format!("key={CANARY}!"));
}

#[tokio::test]
async fn text_that_looks_like_a_secret_does_not_leave_a_run_and_warns_on_a_direct_call() {
    let token = format!("ghp_{}", "a".repeat(36));
    let script = format!(
        "[[rules]]\nwhen = {{ text = \"argument\" }}\nsteps = [{{ tool = {{ name = \"probe_send\", arguments = {{ text = \"{token}\" }} }} }}]\n\
         [[rules]]\nwhen = {{ text = \"result\" }}\nsteps = [{{ tool = {{ name = \"probe_say\" }} }}, {{ tool = {{ name = \"probe_send\" }} }}]"
    );
    let home = TestHome::new().with_script("leaky", &["*"], &script);
    let sender = Probe::send();
    let kernel = home.boot().tool(sender.boxed()).tool(Probe::say(&token).boxed()).start().unwrap();
    let operator = callers::operator(&kernel);

    for way in ["argument", "result"] {
        let task = send(&kernel, &operator, "leaky", way).await;
        assert_eq!(artifact_names(&task).last(), Some(&"probe_send-error"), "{way}");
    }
    assert_eq!(sender.calls(), 0);
    assert!(call(&kernel, &operator, "probe_send", json!({"text": token})).await.is_ok());
}

#[tokio::test]
async fn what_config_calls_personal_does_not_leave() {
    let script = "[[rules]]\nsteps = [{ tool = { name = \"probe_say\" } }, { tool = { name = \"probe_send\" } }]";
    let pii = PiiConfig { tools: vec!["probe_say".parse().unwrap()], ..PiiConfig::default() };
    let home = TestHome::new().with_script("clerk", &["*"], script);
    let kernel = home
        .boot_with(Config { pii, ..Config::default() })
        .tool(Probe::send().boxed())
        .tool(Probe::say("Ada, born 1815").boxed())
        .start()
        .unwrap();

    let task = send(&kernel, &callers::operator(&kernel), "clerk", "go").await;

    assert_eq!(artifact_names(&task), ["probe_say-result", "probe_send-error"]);
}
