//! What a way to models says before anything is there.

use super::*;

fn agent(model: &str) -> AgentManifest {
    toml::from_str(&format!("name = \"a\"\ndescription = \"d\"\n[model]\n{model}")).unwrap()
}

#[tokio::test]
async fn an_agent_without_a_running_server_has_no_model_and_says_so() {
    let found = Models::default().chain(&agent("provider = \"ollama\"\nmodel = \"m\"")).await;
    let why = found.err().map(|error| error.to_string());
    assert_eq!(why.as_deref(), Some("the model cannot be used: the server is stopping"));
    assert!(Models::default().usage().is_none());
}
