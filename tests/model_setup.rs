//! Models as a new user meets them: `agent new`, `model`, `usage`, missing keys, keys in files and stored secrets.

use std::os::unix::fs::PermissionsExt as _;

use openfang_model::WireKind;
use openfang_testkit::fake_provider::answers::{Say, answer};
use openfang_testkit::{FakeProvider, TestHome, TestServer, callers};
use openfang_types::agent::AgentManifest;
use openfang_types::api::UsageBy;
use openfang_types::config::{Config, ProviderConfig, ProviderWire};
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use openfang_kernel::UsageWanted;

use crate::support::binary::{Openfang, Ran};
use crate::support::{assert_state, send, status_text};

/// No known shape of a key, so that only the configuration can know that it is one.
const KEY: &str = "plain-canary-0815-of-a-provider";
const VARIABLE: &str = "ANTHROPIC_API_KEY";

fn manifest(openfang: &Openfang, name: &str) -> AgentManifest {
    let path = openfang.home().join(format!("agents/{name}/agent.toml"));
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A home whose provider `local` speaks Chat at this URL, with more keys in its entry.
fn home_of(url: &str, more: &str) -> Openfang {
    let openfang = Openfang::new();
    let entry = format!("[providers.local]\nwire = \"chat\"\nbase_url = \"{url}/v1\"\n{more}\n");
    openfang.write("config.toml", &entry);
    openfang
}

fn failed_with(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, code, "{ran:?}");
    assert!(words.iter().all(|word| ran.stderr.contains(word) || ran.stdout.contains(word)), "{words:?} in {ran:?}");
}

#[test]
fn without_a_key_a_new_agent_has_no_model_and_the_user_is_told_which_variable_to_set() {
    let openfang = Openfang::new();

    let made = openfang.run(&["agent", "new", "helper", "--tools", "add_numbers"]);

    failed_with(&made, 0, &["created", VARIABLE, "OPENAI_API_KEY", "--model"]);
    assert_eq!(manifest(&openfang, "helper").model.provider.as_str(), "direct");
    let called = openfang.run(&["agent", "send", "helper", "/add_numbers {\"a\": 3, \"b\": 7}"]);
    failed_with(&called, 0, &["10"]);
    failed_with(&openfang.run(&["agent", "new", "helper"]), 1, &["the agent helper already exists"]);
    failed_with(&openfang.run(&["agent", "new", "other", "--prompt", "x"]), 2, &["--prompt needs a model"]);
    assert!(!openfang.home().join("agents/other").exists());
}

#[test]
fn with_a_key_a_new_agent_has_the_default_model_of_its_provider() {
    let openfang = Openfang::new();

    let made = openfang.run_with(("GROQ_API_KEY", KEY), &["agent", "new", "helper", "--json"]);

    assert_eq!(made.json()["model"], "groq/openai/gpt-oss-120b", "{made:?}");
    let agent = manifest(&openfang, "helper");
    assert_eq!((agent.model.provider.as_str(), agent.capabilities.tools.len()), ("groq", 0));
    assert_eq!(agent.problem(), None);
}

#[test]
fn a_model_that_there_is_no_way_to_makes_no_agent() {
    let openfang = Openfang::new();
    for (model, words) in [
        ("antropic/claude", "did you mean anthropic?"),
        ("claude-sonnet-5-5", "write PROVIDER/MODEL"),
        ("anthropic/", "write PROVIDER/MODEL"),
        ("anthropic/a\u{7}b", "write PROVIDER/MODEL"),
    ] {
        let ran = openfang.run(&["agent", "new", "helper", "--model", model]);
        failed_with(&ran, 2, &[words]);
        assert!(!ran.stderr.contains('\u{7}'), "{ran:?}");
    }
    assert!(!openfang.home().join("agents/helper").exists());
}

#[test]
fn a_missing_key_fails_the_task_with_the_variable_and_the_secret_and_nothing_else() {
    let openfang = Openfang::new();
    let made = openfang.run(&["agent", "new", "clerk", "--model", "anthropic/claude-sonnet-5-5"]);
    failed_with(&made, 0, &["the API key of anthropic is missing: ANTHROPIC_API_KEY is not set"]);

    let sent = openfang.run(&["agent", "send", "clerk", "Hello"]);

    let words =
        ["there is no API key for anthropic/claude-sonnet-5-5", VARIABLE, "openfang secret set ANTHROPIC_API_KEY"];
    failed_with(&sent, 1, &words);
    failed_with(&openfang.run(&["agent", "send", "starter", "Ada"]), 0, &["Hello, Ada!"]);
    failed_with(&openfang.run(&["config", "check"]), 0, &["ok"]);
    let doctor = openfang.run(&["doctor", "--offline"]);
    assert!(doctor.stdout.contains("models") && doctor.stdout.contains("ANTHROPIC_API_KEY is not set"), "{doctor:?}");
    let tested = openfang.run(&["model", "test", "anthropic/claude-sonnet-5-5"]);
    failed_with(&tested, 1, &["there is no API key", VARIABLE]);
}

#[test]
fn models_are_shown_with_their_keys_windows_and_prices_and_without_the_key_itself() {
    let openfang = Openfang::new();
    let known = openfang
        .run_with((VARIABLE, KEY), &["model", "show", "anthropic/claude-sonnet-4-6", "--json"])
        .json();
    assert_eq!(known["key"], json!({ "state": "found", "source": VARIABLE }));
    assert_eq!((&known["price"]["input"], &known["price"]["output"]), (&json!(3.0), &json!(15.0)));
    assert!(known["window"].as_u64().is_some_and(|window| window >= 200_000), "{known}");

    let listed = openfang.run_with((VARIABLE, KEY), &["model", "list", "--json"]);
    let providers = listed.json()["providers"].as_array().unwrap().clone();
    let find = |name: &str| providers.iter().find(|provider| provider["name"] == name).unwrap().clone();
    assert_eq!(find("anthropic")["key"]["state"], "found");
    assert_eq!(find("openai")["key"]["state"], "missing");
    assert_eq!(find("ollama")["key"]["state"], "notNeeded");
    let table = openfang.run_with((VARIABLE, KEY), &["model", "list"]);
    failed_with(&table, 0, &["PROVIDER", VARIABLE, "OPENAI_API_KEY is not set"]);
    for ran in [&listed, &table] {
        assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
    }
    failed_with(&openfang.run(&["model", "show", "nobody/m"]), 1, &["there is no provider nobody"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_tested_with_a_key_from_a_file_that_only_its_owner_reads() {
    let mut provider = FakeProvider::start().await;
    provider.script([answer(WireKind::Chat, &[Say::text("ok")])]);
    let openfang =
        home_of(&provider.url(), "api_key_file = \"local.key\"\n[models.m]\nprice = { input = 1000, output = 0 }");
    openfang.write("local.key", &format!("{KEY}\n"));
    let file = openfang.home().join("local.key");

    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    failed_with(&openfang.run(&["model", "test", "local/m"]), 1, &["others can read the API key", "chmod 600"]);
    assert_eq!(provider.unread_requests(), 0);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let tested = openfang.run(&["model", "test", "local/m", "--json"]);

    let test = tested.json();
    assert_eq!((&test["inputTokens"], &test["outputTokens"]), (&json!(20), &json!(9)), "{test}");
    assert!(test["costUsd"].as_f64().is_some_and(|cost| cost > 0.0), "{test}");
    assert_eq!(provider.next_request().await.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_key_belongs_to_its_provider_at_one_origin_and_is_found_nowhere_else() {
    let mut provider = FakeProvider::start().await;
    provider.script([answer(WireKind::Chat, &[Say::text("Hello.")])]);
    let openfang = home_of(&provider.url(), "api_key = \"${secret:LOCAL}\"");
    failed_with(
        &openfang.run(&["model", "test", "local/m"]),
        1,
        &["there is no secret LOCAL", "openfang secret set LOCAL"],
    );
    let stored = openfang.run_with_input(&["secret", "set", "LOCAL"], KEY.as_bytes());
    failed_with(&stored, 0, &["stored LOCAL"]);
    failed_with(&openfang.run(&["agent", "new", "talker", "--model", "local/m"]), 0, &["created"]);

    let sent = openfang.run(&["agent", "send", "talker", "Hello"]);

    failed_with(&sent, 0, &["Hello."]);
    assert!(!format!("{sent:?}").contains(KEY), "{sent:?}");
    assert_eq!(provider.next_request().await.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    failed_with(&openfang.run(&["secret", "list"]), 0, &["LOCAL", "provider:local"]);

    let other = FakeProvider::start().await;
    let entry = format!(
        "[providers.local]\nwire = \"chat\"\nbase_url = \"{}/v1\"\napi_key = \"${{secret:LOCAL}}\"\n",
        other.url()
    );
    openfang.write("config.toml", &entry);
    let moved = openfang.run(&["model", "test", "local/m"]);
    failed_with(
        &moved,
        1,
        &["the secret LOCAL belongs to provider:local", "openfang secret allow LOCAL provider:local"],
    );
    failed_with(&openfang.run(&["secret", "allow", "LOCAL", "provider:local"]), 0, &["provider:local"]);
    other.script([answer(WireKind::Chat, &[Say::text("ok")])]);
    failed_with(&openfang.run(&["model", "test", "local/m"]), 0, &["local/m answers"]);
}

#[tokio::test]
async fn users_see_their_own_usage_and_nothing_of_keys_and_providers() {
    let home = TestHome::new();
    let kernel = home.boot_with(crate::http::any_port()).start().unwrap();
    let admin = callers::admin(&kernel);
    let ada = callers::user(&kernel, "ada", &["agent:starter"]);
    assert!(kernel.models(&admin).await.is_ok());
    assert_eq!(kernel.models(&ada).await.unwrap_err().reason(), "not_permitted");
    assert_eq!(kernel.model(&ada, "openai/gpt-5").await.unwrap_err().reason(), "not_permitted");
    assert_eq!(kernel.test_model(&ada, None).await.unwrap_err().reason(), "not_permitted");

    let server = TestServer::start(kernel).await;
    let client = server.client();
    let usage = client.get("/api/usage?by=model&days=7").await.json();
    assert_eq!(usage["rows"], Value::Array(Vec::new()));
    assert_eq!(client.get("/api/usage?by=colour").await.status, 400);
    assert_eq!(client.get("/api/usage?days=0").await.status, 400);
    assert_eq!(client.get("/api/models/show?model=zzz").await.status, 404);
}

/// A home with the agent `thinker`, whose model is at this URL.
fn thinker(url: &str, more: &str) -> (TestHome, Config) {
    let home = TestHome::new();
    let manifest = format!(
        "name = \"thinker\"\ndescription = \"thinks\"\n[model]\nprovider = \"fake\"\nmodel = \"m\"\nmax_tokens = 100\n{more}"
    );
    home.write("agents/thinker/agent.toml", &manifest);
    let entry = ProviderConfig {
        wire: Some(ProviderWire::Chat),
        base_url: Some(format!("{url}/v1")),
        ..ProviderConfig::default()
    };
    let providers = [("fake".parse().unwrap(), entry)].into_iter().collect();
    (home, Config { providers, ..crate::http::any_port() })
}

fn wanted(by: UsageBy) -> UsageWanted {
    UsageWanted { by, days: 1, is_of_all: false }
}

#[tokio::test]
async fn what_models_take_is_shown_by_agent_model_and_day_to_its_owner() {
    let provider = FakeProvider::answering(|_| answer(WireKind::Chat, &[Say::text("Yes.")])).await;
    let (home, mut config) = thinker(&provider.url(), "");
    config.models = toml::from_str("[m]\nwindow = 9000\nprice = { input = 1000, output = 2000 }").unwrap();
    let kernel = home.boot_with(config).start().unwrap();
    let (admin, ada) = (callers::admin(&kernel), callers::user(&kernel, "ada", &["agent:thinker"]));
    for _ in 0..2 {
        assert_state(&send(&kernel, &admin, "thinker", "Hi").await, TaskState::Completed);
    }
    assert_state(&send(&kernel, &ada, "thinker", "Hi").await, TaskState::Completed);

    let mine = kernel.usage(&admin, wanted(UsageBy::Agent)).await.unwrap();
    assert_eq!((mine.rows.len(), mine.rows[0].key.as_str()), (1, "thinker"));
    assert_eq!((mine.total.answers, mine.total.input_tokens, mine.total.output_tokens), (2, 40, 18));
    // 20 tokens at 1000 and 9 at 2000 dollars for a million, twice.
    assert!((mine.total.cost_usd - 0.076).abs() < 1e-9, "{mine:?}");
    let hers = kernel.usage(&ada, wanted(UsageBy::Model)).await.unwrap();
    assert_eq!((hers.rows[0].key.as_str(), hers.total.answers), ("fake/m", 1));
    let all = kernel
        .usage(&admin, UsageWanted { is_of_all: true, ..wanted(UsageBy::Day) })
        .await
        .unwrap();
    assert_eq!((all.rows.len(), all.total.answers), (1, 3));
    let refused = kernel.usage(&ada, UsageWanted { is_of_all: true, ..wanted(UsageBy::Day) }).await;
    assert_eq!(refused.unwrap_err().reason(), "not_permitted");
}

#[tokio::test]
async fn a_budget_that_does_not_hold_the_next_request_ends_the_turn_and_asks() {
    let mut provider = FakeProvider::answering(|_| answer(WireKind::Chat, &[Say::text("Yes.")])).await;
    let (home, config) = thinker(&provider.url(), "[resources]\nmax_llm_tokens_per_hour = 125\n");
    let kernel = home.boot_with(config).start().unwrap();
    let admin = callers::admin(&kernel);
    assert_state(&send(&kernel, &admin, "thinker", "Hi").await, TaskState::Completed);

    let second = send(&kernel, &admin, "thinker", "Hi").await;

    assert_state(&second, TaskState::InputRequired);
    let said = status_text(&second);
    assert!(said.contains("max_llm_tokens_per_hour = 125 tokens is used: 29 tokens are spent"), "{said}");
    assert_eq!(provider.unread_requests(), 1);
    // Another owner has a budget of their own.
    let ada = callers::user(&kernel, "ada", &["agent:thinker"]);
    assert_state(&send(&kernel, &ada, "thinker", "Hi").await, TaskState::Completed);
}

#[tokio::test]
async fn a_run_keeps_its_provider_when_the_settings_change_and_the_next_one_has_the_new() {
    let mut first = FakeProvider::start().await;
    first.script([answer(WireKind::Chat, &[Say::text("from the first")])]);
    let mut second = FakeProvider::start().await;
    second.script([answer(WireKind::Chat, &[Say::text("from the second")])]);
    let (home, config) = thinker(&first.url(), "");
    let kernel = home.boot_with(config).start().unwrap();
    let operator = callers::operator(&kernel);
    let text = |task: &openfang_types::task::Task| format!("{:?}", task.artifacts);
    assert!(text(&send(&kernel, &operator, "thinker", "Hi").await).contains("from the first"));

    let entry = format!("[providers.fake]\nwire = \"chat\"\nbase_url = \"{}/v1\"\n", second.url());
    home.write("config.toml", &format!("api_listen = \"127.0.0.1:0\"\n{entry}"));
    let report = kernel.reload(&operator).await.unwrap();

    assert!(report.changed.iter().any(|key| key.starts_with("providers")), "{report:?}");
    assert!(text(&send(&kernel, &operator, "thinker", "Hi").await).contains("from the second"));
    assert_eq!((first.unread_requests(), second.unread_requests()), (1, 1));
}
