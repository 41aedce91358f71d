//! What is refused in a manifest although each value is right in itself.

use crate::agent::{AgentManifest, FirstToolChoice, Provider, ReasoningLevel};

fn read(rest: &str) -> Result<AgentManifest, String> {
    let text = format!("name = \"a\"\ndescription = \"d\"\n{rest}");
    toml::from_str(&text).map_err(|error| error.message().to_owned())
}

fn problem(rest: &str) -> String {
    let manifest = read(rest).unwrap_or_else(|error| panic!("{rest}: {error}"));
    let (key, why) = manifest.problem().unwrap_or_else(|| panic!("{rest} is taken"));
    format!("{key}: {why}")
}

const MODEL: &str = "[model]\nprovider = \"anthropic\"\nmodel = \"claude-sonnet-4-6\"\n";

#[test]
fn every_key_of_an_agent_with_a_model_is_read() {
    let manifest = read(
        "tags = [\"research\"]\n[model]\nprovider = \"openai-chat\"\nmodel = \"gpt-5\"\nsystem_prompt = \"Be brief.\"\n\
         max_tokens = 1024\ntemperature = 1\nreasoning = 2000\napi_key_env = \"KEY\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         tool_choice = \"required\"\nshow_thinking = true\n[[fallback_models]]\nprovider = \"ollama\"\nmodel = \"qwen3:8b\"\n\
         [resources]\nmax_secs = 60\nmax_steps = 4\nmax_cost_per_run_usd = 0.5\nmax_llm_tokens_per_hour = 100000\n\
         [flow]\nmode = \"labels\"\napprovals = \"refuse\"\n[output]\nschema = \"answer.schema.json\"",
    )
    .unwrap();

    assert_eq!(manifest.problem(), None);
    assert_eq!(manifest.model.provider, Provider::Named("openai-chat".parse().unwrap()));
    assert_eq!(manifest.model.temperature.map(|value| value.get()), Some(1.0));
    assert_eq!(manifest.model.reasoning, Some(ReasoningLevel::Tokens(2_000)));
    assert_eq!(manifest.model.tool_choice, FirstToolChoice::Required);
    assert_eq!(manifest.resources.max_cost_per_run_usd.map(|limit| limit.nano()), Some(500_000_000));
    let again: AgentManifest = serde_json::from_value(serde_json::to_value(&manifest).unwrap()).unwrap();
    assert_eq!(again, manifest);
}

#[test]
fn what_does_nothing_without_a_model_is_a_mistake() {
    let direct = "[model]\nprovider = \"direct\"\n";
    for (rest, key) in [
        ("model = \"m\"", "model.model"),
        ("system_prompt = \"x\"", "model.system_prompt"),
        ("[[fallback_models]]\nprovider = \"ollama\"\nmodel = \"m\"", "fallback_models"),
        ("[resources]\nmax_steps = 3", "resources"),
        ("[flow]\napprovals = \"refuse\"", "flow"),
        ("[output]\nschema = \"s.json\"", "output"),
    ] {
        let said = problem(&format!("{direct}{rest}"));
        assert!(said.starts_with(&format!("{key}: is for agents with a model")), "{said}");
    }
}

#[test]
fn what_cannot_be_used_is_named_with_its_key() {
    for (rest, expected) in [
        ("script = \"x\"", "model.script: is for provider = \"script\" only"),
        ("api_key_env = \"OPENFANG_API_KEY\"", "model.api_key_env: OPENFANG_API_KEY is a variable of OpenFang itself"),
        ("base_url = \"file:///x\"", "model.base_url: must be an http or https URL"),
        ("max_tokens = 0", "model.max_tokens: must be between 1 and"),
        ("hosted_tools = [\"web_search\"]", "model.hosted_tools: tools that a provider runs itself"),
        ("system_prompt = \"a\"\nsystem_prompt_file = \"b.md\"", "model.system_prompt_file: cannot be used together"),
        ("system_prompt_file = \"../b.md\"", "model.system_prompt_file: must be a file beside"),
        ("[output]\nschema = \"/etc/passwd\"", "output.schema: must be a file beside"),
        ("[[fallback_models]]\nprovider = \"auto\"\nmodel = \"m\"", "fallback_models[0].provider: must name"),
        ("[resources]\nmax_steps = 0", "resources.max_steps: must be at least 1"),
        ("[resources]\nmax_cost_per_day_usd = 0", "resources.max_cost_per_day_usd: must be more than 0"),
        ("[resources]\nmax_secs = 9999999", "resources.max_secs: must be at most 7 days"),
        ("[flow]\nmode = \"sealed\"", "flow.mode: \"sealed\" does not exist; use \"labels\""),
    ] {
        let said = problem(&format!("{MODEL}{rest}"));
        assert!(said.starts_with(expected), "{rest}: {said}");
    }
    assert!(
        problem("[model]\nprovider = \"ollama\"").starts_with("model.model: must be set with provider = \"ollama\"")
    );
    let auto = "[model]\nprovider = \"auto\"\nbase_url = \"http://127.0.0.1:1\"";
    assert!(problem(auto).starts_with("model.base_url: cannot be used with provider = \"auto\""));
    assert!(problem(&format!("tags = [\"\\u0007\"]\n{MODEL}")).starts_with("tags[0]: must be a word"));
    let pinned: Vec<String> = (0..21).map(|number| format!("tool_{number}")).collect();
    let why = problem(&format!("{MODEL}\n[capabilities]\npinned = {pinned:?}"));
    assert_eq!(why, "capabilities.pinned: has 21 tools, and at most 20 can be pinned");
}

#[test]
fn values_are_of_their_kind() {
    for (rest, expected) in [
        ("temperature = 2.5", "must be a number between 0 and 2"),
        ("temperature = nan", "must be a number between 0 and 2"),
        ("reasoning = \"much\"", "expected \"off\", \"low\", \"medium\", \"high\" or a number of tokens"),
        ("reasoning = 0", "must be a number of tokens above 0"),
        ("reasoning = -4", "must be a number of tokens above 0"),
        ("tool_choice = \"any\"", "unknown variant `any`"),
        ("[resources]\nmax_cost_per_run_usd = -1.0", "must be an amount of dollars"),
        ("[resources]\nmax_steps = -1", "invalid value"),
    ] {
        let error = read(&format!("{MODEL}{rest}")).unwrap_err();
        assert!(error.contains(expected), "{rest}: {error}");
    }
    assert!(read("[model]\nprovider = \"a b\"").unwrap_err().contains("is not the name of a provider"));
    assert!(
        read("[model]\nprovider = \"x\"\nmodel = \"a\\u0000b\"")
            .unwrap_err()
            .contains("use visible ASCII")
    );
}
