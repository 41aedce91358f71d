//! Who may choose another model.

use openfang_types::principal::{AdminProof, Door, Grants, Principal};
use openfang_types::task::Part;

use super::*;

fn agent(provider: &str) -> Arc<AgentManifest> {
    let mut model = ModelConfig::of(provider.parse().unwrap());
    model.api_key_env = Some("KEY_OF_THE_AGENT".to_owned());
    model.max_tokens = Some(7);
    Arc::new(AgentManifest::new("thinker".parse().unwrap(), String::new(), model))
}

fn said(text: &str) -> Message {
    Message::text("m-1".parse().unwrap(), Role::User, text)
}

fn caller(principal: Principal) -> Caller {
    let trace = openfang_types::ids::TraceId::from_uuid(uuid::Uuid::nil());
    Caller { principal: Arc::new(principal), door: Door::Cli, trace, hops: 0, room: None }
}

#[test]
fn only_the_operator_chooses_and_only_a_model() {
    let operator = caller(Principal::admin(AdminProof::InProcess));
    let user = caller(Principal::user("ada".parse().unwrap(), Grants::parse(["*"]).unwrap()));
    let chosen = |model: &str| said("hi").with_model(model.to_owned());

    assert!(check(&operator, &agent("ollama"), &chosen("openai/gpt-x")).is_ok());
    assert!(check(&user, &agent("ollama"), &said("hi")).is_ok());
    let rows = [
        (&user, "ollama", "openai/gpt-x", "only the operator"),
        (&operator, "direct", "openai/gpt-x", "has no model"),
        (&operator, "ollama", "gpt-x", "PROVIDER/MODEL"),
        (&operator, "ollama", "direct/x", "PROVIDER/MODEL"),
        (&operator, "ollama", "auto/x", "PROVIDER/MODEL"),
    ];
    for (caller, provider, model, expected) in rows {
        let refused = check(caller, &agent(provider), &chosen(model)).unwrap_err().to_string();
        assert!(refused.contains(expected), "{model}: {refused}");
    }
}

#[test]
fn a_chosen_model_brings_nothing_of_the_agents_own_provider_and_lasts_for_its_message() {
    let (agent, chosen) = (agent("ollama"), said("hi").with_model("openai/gpt-x".to_owned()));

    let manifest = manifest_of(&agent, &[], &chosen);

    assert_eq!(
        (manifest.model.provider.as_str(), manifest.model.model.as_ref().unwrap().as_str()),
        ("openai", "gpt-x")
    );
    assert_eq!((&manifest.model.api_key_env, manifest.model.max_tokens), (&None, Some(7)));
    let decision = Message::of_parts("m-2".parse().unwrap(), Role::User, vec![Part::data(serde_json::json!({}))]);
    let goes_on = manifest_of(&agent, std::slice::from_ref(&chosen), &decision);
    assert_eq!(goes_on.model.provider.as_str(), "openai", "a decision goes on with it");
    assert!(Arc::ptr_eq(&manifest_of(&agent, &[chosen], &said("more")), &agent));
}
