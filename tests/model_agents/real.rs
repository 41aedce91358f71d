//! An agent with a real model, served by llama.cpp on this machine: its prefix cache holds, and a long conversation goes on.
//! The words of the model are its own, so only sizes and entries are asserted.

use openfang_kernel::{Kernel, Reply};
use openfang_store::{Conversation, Stores, TranscriptQuery, TranscriptRange};
use openfang_testkit::{TestHome, callers};
use openfang_types::config::{Config, ModelSettings};
use openfang_types::ids::Owner;
use openfang_types::task::{Message, Task, TaskState};
use serde_json::Value;

use super::fixture::config_with;
use crate::support::peers::models::LlamaServer;
use crate::support::status_text;

/// What the server of the tests can hold, and a smaller window that is full sooner.
const WINDOW: u64 = 2_048;
const SMALL_WINDOW: u64 = 1_024;

struct RealStage {
    kernel: Kernel,
    stores: Stores,
    _home: TestHome,
    _server: LlamaServer,
}

async fn stage(prompt: &str, max_tokens: u32, window: u64) -> RealStage {
    let server = tokio::task::spawn_blocking(LlamaServer::start).await.unwrap();
    let (home, stores) = (TestHome::new(), Stores::in_memory());
    let toml = format!(
        "name = \"thinker\"\ndescription = \"thinks\"\n[model]\nprovider = \"llama\"\nmodel = \"smollm\"\ntool_choice = \"none\"\n\
         max_tokens = {max_tokens}\nsystem_prompt = {prompt:?}\n[capabilities]\ntools = [\"add_numbers\"]\n"
    );
    home.write("agents/thinker/agent.toml", &toml);
    let settings = ModelSettings { window: Some(window), max_output: Some(256), ..ModelSettings::default() };
    let models = [("llama/smollm".parse().unwrap(), settings)].into_iter().collect();
    let config = Config { models, ..config_with(&[("llama", &server.url())]) };
    let kernel = home.boot_with(config).stores(stores.clone()).start().unwrap();
    RealStage { kernel, stores, _home: home, _server: server }
}

impl RealStage {
    async fn send(&self, text: &str) -> Task {
        let message = Message { context_id: Some("talk".parse().unwrap()), ..self.kernel.message(text) };
        let sent = self
            .kernel
            .send_message(&callers::admin(&self.kernel), &"thinker".parse().unwrap(), message)
            .await;
        let Reply::Task(task) = sent.unwrap() else { panic!("no task") };
        // A text that is cut at the output limit asks whether to go on.
        assert!(matches!(task.status.state, TaskState::Completed | TaskState::InputRequired), "{}", status_text(&task));
        assert!(!status_text(&task).contains("larger window"), "{}", status_text(&task));
        *task
    }

    /// Everything that was ever written to the conversation.
    async fn entries(&self) -> Vec<Value> {
        let conversation = Conversation {
            owner: Owner::admin(),
            agent: "thinker".parse().unwrap(),
            context_id: "talk".parse().unwrap(),
        };
        let (range, max_bytes) = (TranscriptRange::After(0), usize::MAX);
        let query = TranscriptQuery { conversation, range, kind: None, limit: 1_000, max_bytes };
        let page = self.stores.transcripts.read(&query).await.unwrap();
        page.rows
            .iter()
            .map(|row| serde_json::from_str(row.item.body.as_str()).unwrap())
            .collect()
    }
}

#[tokio::test]
async fn nine_tenths_of_the_prompt_come_from_the_cache_from_the_second_step_on() {
    let prompt = "You are a patient helper. Answer with a few words. ".repeat(40);
    let stage = stage(&prompt, 12, WINDOW).await;
    for number in 1..=10 {
        stage.send(&format!("Tell me something about the number {number}.")).await;
    }

    let entries = stage.entries().await;
    let usages = entries.iter().filter_map(|entry| entry["answer"].get("usage"));
    let usages = usages.map(|usage| (usage["input"].as_u64().unwrap(), usage["cached"].as_u64().unwrap_or(0)));
    let usages: Vec<(u64, u64)> = usages.collect();
    assert_eq!(usages.len(), 10);
    let (all, cached) = usages[1..].iter().fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
    assert!(cached * 10 >= all * 9, "{cached} of {all} tokens: {usages:?}");
}

#[tokio::test]
async fn a_real_model_summarizes_its_conversation_and_goes_on() {
    let stage = stage("Answer with a few words.", 24, SMALL_WINDOW).await;
    for number in 1..=7 {
        let text = "The shelf holds old maps, a lamp and a jar of salt. ".repeat(9);
        stage.send(&format!("Room {number}: {text}")).await;
    }

    let entries = stage.entries().await;
    let compactions: Vec<&Value> = entries.iter().filter_map(|entry| entry.get("compacted")).collect();
    assert!(!compactions.is_empty(), "the conversation is longer than the window");
    let room = SMALL_WINDOW - 24;
    for compaction in &compactions {
        let (before, after) = (compaction["before"].as_u64().unwrap(), compaction["after"].as_u64().unwrap());
        assert!(after <= room / 2 && before > after, "{compaction:?}");
        assert!(!compaction["summary"].as_str().unwrap().contains("there is no summary"), "{compaction:?}");
    }
    let last = entries.iter().rposition(|entry| entry.get("compacted").is_some()).unwrap();
    assert!(entries[last..].iter().any(|entry| entry.get("answer").is_some()), "the model goes on after it");
}
