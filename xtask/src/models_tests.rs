//! The table of models, made from rows as the package has them.

use serde_json::json;

use super::*;

#[test]
fn chat_models_of_known_providers_are_kept_with_their_prices() {
    let rows = json!({
        "claude-x": { "litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 200000, "max_output_tokens": 64000,
            "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07 },
        "claude-x-20260105": { "litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": 200000,
            "max_output_tokens": 64000, "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
            "cache_read_input_token_cost": 3e-07 },
        "gpt-x-2026-03-05": { "litellm_provider": "openai", "mode": "responses", "max_input_tokens": 100,
            "max_output_tokens": 200, "input_cost_per_token": 0.0, "output_cost_per_token": 0.0 },
        "gemini/gemini-x": { "litellm_provider": "gemini", "mode": "chat", "max_input_tokens": 1, "max_output_tokens": 1 },
        "deepseek-x": { "litellm_provider": "deepseek", "mode": "chat", "max_input_tokens": 9, "max_output_tokens": 9 },
        "text-x": { "litellm_provider": "openai", "mode": "embedding", "max_input_tokens": 9, "max_output_tokens": 9 },
        "other-x": { "litellm_provider": "elsewhere", "mode": "chat", "max_input_tokens": 9, "max_output_tokens": 9 },
        "sample_spec": { "max_input_tokens": "a text" }
    });
    let rows: BTreeMap<String, serde_json::Value> = serde_json::from_value(rows).unwrap();

    let text = table(&rows, "1.2.3", "2026-11-18").unwrap();

    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" = {")).collect();
    assert_eq!(
        lines,
        [
            "\"claude-x\" = { window = 200000, max_output = 64000, price = { input = 3, output = 15, cached = 0.3 } }",
            "\"deepseek/deepseek-x\" = { window = 9, max_output = 9 }",
            "\"gemini-x\" = { window = 1, max_output = 1 }",
            "\"gpt-x-2026-03-05\" = { window = 100, max_output = 100 }",
        ]
    );
    assert!(text.starts_with("# Windows in tokens, and prices in dollars for a million tokens, taken on 2026-11-18."));
}

#[test]
fn a_table_without_models_is_refused() {
    assert!(table(&BTreeMap::new(), "1", "2026-11-18").is_err());
}
