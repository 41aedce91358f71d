//! How models are reached, and which key is sent where.

use openfang_types::agent::AgentManifest;
use proptest::prelude::*;

use super::*;

fn config(text: &str) -> Config {
    toml::from_str(text).unwrap()
}

fn way_in(config: &Config, model: &str) -> Result<ModelWay, NoWay> {
    let manifest = format!("name = \"a\"\ndescription = \"d\"\n[model]\n{model}");
    let manifest: AgentManifest = toml::from_str(&manifest).unwrap();
    let (_, choice) = choices(&manifest).into_iter().next().unwrap();
    way(config, choice)
}

fn variable(name: &str) -> KeySource {
    KeySource::Variables(vec![name.to_owned()])
}

#[test]
fn a_known_provider_needs_no_entry() {
    let way = way_in(&Config::default(), "provider = \"anthropic\"\nmodel = \"claude-sonnet-4-6\"").unwrap();
    assert_eq!((way.endpoint.wire, way.endpoint.base_url.as_str()), (WireKind::Anthropic, "https://api.anthropic.com"));
    assert_eq!(way.key, variable("ANTHROPIC_API_KEY"));

    let gemini = way_in(&Config::default(), "provider = \"gemini\"\nmodel = \"g\"").unwrap();
    assert_eq!(gemini.key, KeySource::Variables(vec!["GEMINI_API_KEY".into(), "GOOGLE_API_KEY".into()]));
    let ollama = way_in(&Config::default(), "provider = \"ollama\"\nmodel = \"qwen3:8b\"").unwrap();
    assert_eq!(ollama.key, KeySource::None);
}

#[test]
fn an_entry_changes_a_known_provider_and_adds_others() {
    let config = config(
        "[providers.openai]\napi_key_file = \"/keys/openai\"\n[providers.local]\nwire = \"chat\"\n\
         base_url = \"http://127.0.0.1:8080/v1/\"",
    );
    let openai = way_in(&config, "provider = \"openai\"\nmodel = \"gpt-5\"").unwrap();
    assert_eq!((openai.endpoint.wire, openai.key), (WireKind::Responses, KeySource::File("/keys/openai".into())));
    let local = way_in(&config, "provider = \"local\"\nmodel = \"m\"").unwrap();
    assert_eq!((local.endpoint.base_url.as_str(), local.key), ("http://127.0.0.1:8080/v1", KeySource::None));
}

#[test]
fn a_key_is_not_sent_to_another_origin_than_its_own() {
    let config = config(
        "[providers.openai]\napi_key = \"${secret:OPENAI}\"\n[providers.other]\nwire = \"chat\"\nbase_url = \"https://other.example.org/v1\"\napi_key_env = \"OTHER\"",
    );
    let key = |model: &str| way_in(&config, model).unwrap().key;

    assert_eq!(key("provider = \"openai\"\nmodel = \"m\""), KeySource::Entry);
    assert_eq!(
        key("provider = \"openai\"\nmodel = \"m\"\nbase_url = \"https://elsewhere.example.org\""),
        KeySource::None
    );
    assert_eq!(
        key("provider = \"anthropic\"\nmodel = \"m\"\nbase_url = \"https://elsewhere.example.org\""),
        KeySource::None
    );
    assert_eq!(
        key("provider = \"anthropic\"\nmodel = \"m\"\nbase_url = \"https://api.anthropic.com:444\""),
        KeySource::None
    );
    assert_eq!(
        key("provider = \"anthropic\"\nmodel = \"m\"\nbase_url = \"https://api.anthropic.com/v9\""),
        variable("ANTHROPIC_API_KEY")
    );
    assert_eq!(
        key("provider = \"other\"\nmodel = \"m\"\nbase_url = \"https://elsewhere.example.org\""),
        KeySource::None
    );
    // The agent's own key goes where the agent goes.
    let own =
        "provider = \"other\"\nmodel = \"m\"\nbase_url = \"https://elsewhere.example.org\"\napi_key_env = \"MINE\"";
    assert_eq!(key(own), variable("MINE"));
}

#[test]
fn a_key_is_sent_in_the_clear_to_this_machine_and_private_networks_only() {
    for (host, is_taken) in [
        ("127.0.0.1:8080", true),
        ("[::1]:8080", true),
        ("localhost", true),
        ("10.1.2.3", true),
        ("llm:4000", true),
        ("llm.internal", true),
        ("llm.example.org", false),
        ("8.8.8.8", false),
        ("169.254.169.254", false),
        ("metadata.google.internal", false),
    ] {
        let model =
            format!("provider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://{host}/v1\"\napi_key_env = \"KEY\"");
        let found = way_in(&Config::default(), &model);
        assert_eq!(found.is_ok(), is_taken, "{host}: {found:?}");
        if let Err(problem) = found {
            assert_eq!(problem.key, "base_url", "{host}");
        }
    }
    let without_key = "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://llm.example.org/v1\"";
    assert!(way_in(&Config::default(), without_key).is_ok());
}

#[test]
fn a_provider_that_nobody_knows_is_named_with_the_nearest() {
    let said = |provider: &str| {
        way_in(&Config::default(), &format!("provider = \"{provider}\"\nmodel = \"m\""))
            .unwrap_err()
            .why
    };
    assert_eq!(said("antropic"), "there is no provider antropic; did you mean anthropic?");
    assert_eq!(said("dirct"), "there is no provider dirct; did you mean direct?");
    assert!(said("zzzzzzzz").contains("use direct, script, auto, anthropic"), "{}", said("zzzzzzzz"));
}

#[test]
fn an_entry_that_leads_nowhere_is_a_fault_of_the_configuration() {
    let problems = |text: &str| -> Vec<String> {
        super::problems(&config(text))
            .into_iter()
            .map(|problem| format!("{}: {}", problem.key, problem.why))
            .collect()
    };
    assert_eq!(
        problems("[providers.x]\nbase_url = \"https://x.example.org\""),
        ["providers.x: the provider x has no wire; add it to [providers.x] in config.toml"]
    );
    assert_eq!(
        problems("[providers.x]\nwire = \"chat\""),
        ["providers.x: the provider x has no base_url; add it to [providers.x] in config.toml"]
    );
    let clear = problems("[providers.x]\nwire = \"chat\"\nbase_url = \"http://x.example.org\"\napi_key_env = \"K\"");
    assert!(
        clear[0].starts_with("providers.x.base_url: the API key would be sent to http://x.example.org unencrypted"),
        "{clear:?}"
    );
    assert_eq!(problems("[providers.openai]\napi_key_env = \"K\""), Vec::<String>::new());
}

#[test]
fn what_the_configuration_says_of_a_model_comes_first() {
    let table = ModelTable::builtin();
    let known = |config: &Config, model: &str| {
        let way = way_in(config, model).unwrap();
        (facts(config, table, &way), capabilities(config, &way))
    };
    let sonnet = "provider = \"anthropic\"\nmodel = \"claude-sonnet-4-6\"";
    let (usual, _) = known(&Config::default(), sonnet);
    assert!(usual.is_some_and(|facts| facts.price.is_some() && facts.window >= 200_000));

    let changed = config(
        "[models.claude-sonnet-4-6]\nwindow = 1000\n[models.\"anthropic/claude-sonnet-4-6\"]\nwindow = 500\nimages = false\n\
         price = { input = 1, output = 2 }",
    );
    let (facts, abilities) = known(&changed, sonnet);
    let facts = facts.unwrap();
    assert_eq!((facts.window, facts.max_output, abilities.images), (500, 500, false));
    assert_eq!(facts.price.map(|price| (price.input, price.output)), Some((1.0, 2.0)));

    let (ollama, _) = known(&Config::default(), "provider = \"ollama\"\nmodel = \"x\"");
    assert_eq!(ollama.and_then(|facts| facts.price).map(|price| price.input), Some(0.0));
    let (unknown, _) = known(&Config::default(), "provider = \"openai\"\nmodel = \"nobody-knows\"");
    assert_eq!(unknown, None);
}

proptest! {
    #[test]
    fn no_url_of_an_agent_takes_the_usual_key_elsewhere(host in "[a-z]{1,8}(\\.[a-z]{2,5}){0,2}", port in 1_u16..) {
        let model = format!("provider = \"anthropic\"\nmodel = \"m\"\nbase_url = \"https://{host}:{port}\"");
        if let Ok(way) = way_in(&Config::default(), &model) {
            prop_assert_eq!(way.key, KeySource::None);
        }
    }
}
