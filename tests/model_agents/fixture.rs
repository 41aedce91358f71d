//! A home with one agent, `thinker`, and the provider that answers for it.

use openfang_kernel::{Caller, Kernel, Tool};
use openfang_model::WireKind;
use openfang_testkit::fake_provider::Reply;
use openfang_testkit::fake_provider::answers::{Say, answer};
use openfang_testkit::{FakeProvider, TestHome, TestServer, callers};
use openfang_types::config::{A2aConfig, Config, ProviderConfig, ProviderWire};
use openfang_types::limits::Limits;
use openfang_types::task::{Part, Task};
use serde_json::Value;

/// A kernel with the agent, and its provider.
pub(super) struct Stage {
    pub(super) provider: FakeProvider,
    pub(super) kernel: Kernel,
    pub(super) _home: TestHome,
}

/// The manifest of the agent, with more keys.
pub(super) fn manifest(tools: &[&str], more: &str) -> String {
    format!(
        "name = \"thinker\"\ndescription = \"thinks\"\n[model]\nprovider = \"fake\"\nmodel = \"m\"\n\
         system_prompt = \"Be brief.\"\n{more}\n[capabilities]\ntools = {tools:?}\n"
    )
}

/// A config in which the provider `fake` speaks Chat at this URL.
pub(crate) fn config(url: &str) -> Config {
    config_with(&[("fake", url)])
}

/// A config with providers that speak Chat.
pub(crate) fn config_with(providers: &[(&str, &str)]) -> Config {
    let entry = |url: &str| ProviderConfig {
        wire: Some(ProviderWire::Chat),
        base_url: Some(format!("{url}/v1")),
        ..ProviderConfig::default()
    };
    let providers = providers.iter().map(|(name, url)| (name.parse().unwrap(), entry(url))).collect();
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    let limits = Limits { drain_secs: 0, ..Limits::default() };
    Config { a2a, limits, providers, ..crate::http::any_port() }
}

/// The agent with these tools, and with these on top of the built-in ones.
pub(super) async fn stage_with(tools: &[&str], more: &str, probes: Vec<Box<dyn Tool>>) -> Stage {
    let provider = FakeProvider::start().await;
    let home = TestHome::new();
    home.write("agents/thinker/agent.toml", &manifest(tools, more));
    let boot = home.boot_with(config(&provider.url()));
    let kernel = probes.into_iter().fold(boot, openfang_kernel::Boot::tool).start().unwrap();
    Stage { provider, kernel, _home: home }
}

pub(super) async fn stage(tools: &[&str], more: &str) -> Stage {
    stage_with(tools, more, Vec::new()).await
}

impl Stage {
    /// The operator.
    pub(super) fn admin(&self) -> Caller {
        callers::admin(&self.kernel)
    }

    /// Sends a text and waits for the task.
    pub(super) async fn send(&self, text: &str) -> Task {
        crate::support::send(&self.kernel, &self.admin(), "thinker", text).await
    }

    /// The messages of the next request.
    pub(super) async fn next_messages(&mut self) -> Vec<Value> {
        let request = self.provider.next_request().await.json();
        request["messages"].as_array().unwrap().clone()
    }

    /// The same over HTTP.
    pub(super) async fn serve(self) -> (TestServer, FakeProvider, TestHome) {
        (TestServer::start(self.kernel).await, self.provider, self._home)
    }
}

/// An answer with this text.
pub(crate) fn says(text: &str) -> Reply {
    answer(WireKind::Chat, &[Say::text(text)])
}

/// An answer with these calls, by id, tool and arguments.
pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> Reply {
    let says: Vec<Say> = calls.iter().map(|(id, tool, arguments)| Say::call(id, tool, arguments.clone())).collect();
    answer(WireKind::Chat, &says)
}

/// The text of the answer.
pub(crate) fn reply_of(task: &Task) -> String {
    let artifact = task.artifacts.iter().find(|artifact| artifact.name.as_deref() == Some("reply"));
    artifact
        .map(|artifact| artifact.parts.iter().filter_map(Part::as_text).collect())
        .unwrap_or_default()
}

/// The results in a request, in order: the id of the call and the text.
pub(crate) fn results_of(messages: &[Value]) -> Vec<(String, String)> {
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results
        .map(|message| {
            let text = match &message["content"] {
                Value::String(text) => text.clone(),
                parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
            };
            (message["tool_call_id"].as_str().unwrap_or_default().to_owned(), text)
        })
        .collect()
}
