//! What is refused under `[providers]` and `[models]`.

use crate::config::Config;

fn problems(text: &str) -> Vec<String> {
    let config: Config = toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    config
        .problems()
        .into_iter()
        .map(|problem| format!("{}: {}", problem.key, problem.why))
        .collect()
}

fn refusal(text: &str) -> String {
    toml::from_str::<Config>(text).unwrap_err().message().to_owned()
}

#[test]
fn a_provider_needs_no_key_and_has_at_most_one() {
    let good = "[providers.local]\nwire = \"chat\"\nbase_url = \"http://127.0.0.1:8080/v1\"\n\
                [providers.anthropic]\napi_key = \"${secret:ANTHROPIC}\"\n\
                [models.\"qwen3:8b\"]\nwindow = 40960\nprice = { input = 0, output = 0.5 }";
    assert_eq!(problems(good), Vec::<String>::new());

    let two = "[providers.local]\napi_key_env = \"KEY\"\napi_key_file = \"key\"";
    assert_eq!(
        problems(two),
        ["providers.local: api_key_env, api_key_file and api_key exclude each other; keep one of them"]
    );
}

#[test]
fn what_cannot_be_used_is_named_with_its_key() {
    let rows = [
        ("[providers.auto]\nwire = \"chat\"", "providers.auto: auto is a word of its own"),
        ("[providers.x]\nbase_url = \"ftp://a\"", "providers.x.base_url: must be an http or https URL"),
        ("[providers.x]\nbase_url = \"http://user@a\"", "providers.x.base_url: must be"),
        ("[providers.x]\nbase_url = \"http://a/?key=1\"", "providers.x.base_url: must be"),
        ("[providers.x]\nbase_url = \"http://${HOST}/v1\"", "providers.x.base_url: must be"),
        ("[providers.x]\napi_key_env = \"A B\"", "providers.x.api_key_env: must be the name of an environment"),
        (
            "[providers.x]\napi_key_env = \"OPENFANG_API_KEY\"",
            "providers.x.api_key_env: OPENFANG_API_KEY is a variable",
        ),
        ("[providers.x]\napi_key = \"${OPENFANG_API_KEY}\"", "providers.x.api_key: OPENFANG_API_KEY is a variable"),
        ("[providers.x]\napi_key = \" \"", "providers.x.api_key: is empty"),
        ("[models.m]\nwindow = 0", "models: m: window must be at least 1"),
        ("[models.m]\nwindow = 9999999999999", "models: m: window is too large"),
        ("[models.m]\nwindow = 10\nmax_output = 11", "models: m: max_output cannot be larger than window"),
    ];
    for (text, expected) in rows {
        let said = problems(text);
        assert!(said.len() == 1 && said[0].starts_with(expected), "{text}: {said:?}");
    }
}

#[test]
fn names_are_plain_and_values_are_of_their_kind() {
    assert!(refusal("[providers.\"a b\"]").contains("is not the name of a provider"));
    assert!(refusal("[providers.OpenAI]").contains("use small letters"));
    assert!(refusal("[models.\"a\\u0007b\"]").contains("use visible ASCII characters"));
    assert!(refusal("[providers.x]\nwire = \"grpc\"").contains("unknown variant `grpc`"));
    assert!(refusal("[models.m]\nprice = { input = -1, output = 2 }").contains("an amount of dollars"));
    assert!(refusal("[providers.x]\n[providers.x]").contains("duplicate"));
}
