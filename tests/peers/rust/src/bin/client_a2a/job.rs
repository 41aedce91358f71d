//! Every operation.

use std::sync::Arc;

use a2a::{A2AError, AgentCard};
use a2a_client::A2AClientFactory;
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::auth::AuthInterceptor;
use serde_json::{Value, json};

use crate::normal;
use crate::wire::{Client, Done, answer, bounded, fault, next, plain, refused, request, sending, sent};

/// What there is, in the order in which it is done.
pub(crate) const ORDER: &[&str] = &[
    "card",
    "send",
    "reply",
    "data",
    "file",
    "artifacts",
    "states",
    "stream",
    "stream_reply",
    "get",
    "list",
    "cancel",
    "not_cancelable",
    "resubscribe",
    "push_set",
    "push_get",
    "push_list",
    "push_delete",
    "multi_turn",
    "context",
    "not_found",
    "extended_card",
    "no_key",
];
const CONFIG: &str = "hook-1";

/// A client, its card, and a task that is completed, made once.
pub(crate) struct Job {
    client: Client,
    stranger: Client,
    card: AgentCard,
    completed: Option<Value>,
    hook: String,
}

impl Job {
    pub(crate) async fn connect(base: &str, binding: &str, key: Option<String>) -> Result<Self, A2AError> {
        let card = AgentCardResolver::new(None).resolve(base).await?;
        let factory = || A2AClientFactory::builder().preferred_bindings(vec![binding.to_owned()]);
        let keyed = match key {
            Some(key) => factory().with_interceptor(Arc::new(AuthInterceptor::bearer(key))),
            None => factory(),
        };
        let client = keyed.build().create_from_card(&card).await?;
        let stranger = factory().build().create_from_card(&card).await?;
        let hook = std::env::var("A2A_HOOK").unwrap_or_else(|_| "https://example.com/hook".to_owned());
        Ok(Self { client, stranger, card, completed: None, hook })
    }

    pub(crate) async fn operation(&mut self, name: &str) -> Done {
        match name {
            "card" => Ok(normal::card(&plain(&self.card)?)),
            "send" => Ok(json!({"task": self.completed().await?})),
            "reply" => Ok(json!({"message": self.say("reply").await?})),
            "data" => Ok(json!({"task": self.data().await?})),
            "file" => Ok(json!({"task": self.file().await?})),
            "artifacts" => Ok(json!({"task": self.say("artifacts").await?})),
            "states" => Ok(json!({
                "fail": self.say("fail").await?,
                "reject": self.say("reject").await?,
                "auth": self.say("auth").await?,
            })),
            "stream" => self.stream("stream").await,
            "stream_reply" => self.stream("reply").await,
            "get" => self.get().await,
            "list" => self.list().await,
            "cancel" => self.cancel().await,
            "not_cancelable" => {
                let id = self.completed().await?["id"].clone();
                Ok(refused(self.cancel_task(&id).await))
            }
            "resubscribe" => self.resubscribe().await,
            "push_set" => self.push_set().await,
            "push_get" => self.push_get().await,
            "push_list" => Ok(json!({"configs": self.push_list().await?})),
            "push_delete" => self.push_delete().await,
            "multi_turn" => self.multi_turn().await,
            "context" => self.context().await,
            "not_found" => {
                let unknown = request(json!({"id": "00000000-0000-4000-8000-000000000000"}))?;
                Ok(refused(answer(self.client.get_task(&unknown).await)))
            }
            "extended_card" => {
                let card = answer(self.client.get_extended_agent_card(&request(json!({}))?).await)?;
                Ok(normal::card(&card))
            }
            "no_key" => Ok(refused(sent(&self.stranger, json!([{"text": "hello"}]), json!({}), true).await)),
            _ => Err(json!({"name": "unknown operation", "message": name})),
        }
    }

    async fn say(&self, text: &str) -> Done {
        sent(&self.client, json!([{"text": text}]), json!({}), true).await
    }

    async fn completed(&mut self) -> Done {
        if self.completed.is_none() {
            self.completed = Some(self.say("hello").await?);
        }
        Ok(self.completed.clone().unwrap_or_default())
    }

    /// A task that works until it is canceled.
    async fn running(&self) -> Done {
        sent(&self.client, json!([{"text": "slow"}]), json!({}), false).await
    }

    async fn data(&self) -> Done {
        let call = json!({"tool": "add_numbers", "arguments": {"a": 3, "b": 7}});
        sent(&self.client, json!([{"data": call}]), json!({}), true).await
    }

    async fn file(&self) -> Done {
        let file = json!({"raw": "AQID", "filename": "three.bin", "mediaType": "application/x-three"});
        sent(&self.client, json!([{"text": "take this"}, file]), json!({}), true).await
    }

    async fn stream(&self, text: &str) -> Done {
        let sending = sending(json!([{"text": text}]), json!({}), true)?;
        let mut events = self.client.send_streaming_message(&sending).await.map_err(fault)?;
        let mut heard = Vec::new();
        while let Some(event) = next(&mut events).await? {
            heard.push(event);
            bounded(&heard)?;
        }
        Ok(normal::heard(&heard))
    }

    async fn resubscribe(&self) -> Done {
        let id = self.running().await?["id"].clone();
        let subscribe = request(json!({"id": id}))?;
        let mut events = self.client.subscribe_to_task(&subscribe).await.map_err(fault)?;
        let mut heard = Vec::new();
        while let Some(event) = next(&mut events).await? {
            heard.push(event);
            bounded(&heard)?;
            // Only now: somebody listens, so that the end must reach them.
            if heard.len() == 1 {
                self.cancel_task(&id).await?;
            }
        }
        Ok(normal::heard(&heard))
    }

    async fn get_task(&self, asked: Value) -> Done {
        Ok(normal::task(&answer(self.client.get_task(&request(asked)?).await)?))
    }

    async fn cancel_task(&self, id: &Value) -> Done {
        Ok(normal::task(&answer(self.client.cancel_task(&request(json!({"id": id}))?).await)?))
    }

    async fn get(&mut self) -> Done {
        let id = self.completed().await?["id"].clone();
        let whole = self.get_task(json!({"id": id})).await?;
        let bare = self.get_task(json!({"id": id, "historyLength": 0})).await?;
        Ok(json!({"same": whole["id"] == id, "task": whole, "bareHistory": bare["history"]}))
    }

    async fn list_tasks(&self, asked: Value) -> Result<(Vec<Value>, Value), Value> {
        let page = answer(self.client.list_tasks(&request(asked)?).await)?;
        let ids = page["tasks"].as_array().into_iter().flatten().map(|task| task["id"].clone()).collect();
        Ok((ids, page))
    }

    async fn list(&mut self) -> Done {
        let done = self.completed().await?;
        let (mine, _) = self.list_tasks(json!({"contextId": done["contextId"]})).await?;
        let (ids, page) = self.list_tasks(json!({"pageSize": 1})).await?;
        let (after, _) = self.list_tasks(json!({"pageSize": 1, "pageToken": page["nextPageToken"]})).await?;
        Ok(json!({
            "count": mine.len(),
            "found": mine.contains(&done["id"]),
            "pageCount": ids.len(),
            "pageSize": page["pageSize"],
            "more": page["nextPageToken"] != "",
            "moves": ids != after,
            "total": page["totalSize"],
        }))
    }

    async fn cancel(&self) -> Done {
        let begun = self.running().await?;
        let task = self.cancel_task(&begun["id"]).await?;
        let after = self.get_task(json!({"id": begun["id"]})).await?;
        Ok(json!({"before": begun["state"], "task": task, "after": after["state"]}))
    }

    async fn push_set(&mut self) -> Done {
        let id = self.completed().await?["id"].clone();
        let wanted = request(json!({"taskId": id, "id": CONFIG, "url": self.hook, "token": "secret-token"}))?;
        let config = answer(self.client.create_push_config(&wanted).await)?;
        Ok(json!({"config": normal::config(&config)}))
    }

    async fn push_get(&mut self) -> Done {
        let asked = request(json!({"taskId": self.completed().await?["id"], "id": CONFIG}))?;
        let config = answer(self.client.get_push_config(&asked).await)?;
        Ok(json!({"config": normal::config(&config)}))
    }

    async fn push_list(&mut self) -> Result<Vec<Value>, Value> {
        let asked = request(json!({"taskId": self.completed().await?["id"]}))?;
        let page = answer(self.client.list_push_configs(&asked).await)?;
        Ok(page["configs"].as_array().into_iter().flatten().map(normal::config).collect())
    }

    async fn push_delete(&mut self) -> Done {
        let gone = request(json!({"taskId": self.completed().await?["id"], "id": CONFIG}))?;
        self.client.delete_push_config(&gone).await.map_err(fault)?;
        Ok(json!({"left": self.push_list().await?.len()}))
    }

    async fn multi_turn(&self) -> Done {
        let asked = self.say("ask").await?;
        let of = json!({"taskId": asked["id"], "contextId": asked["contextId"]});
        let answered = sent(&self.client, json!([{"text": "three"}]), of, true).await?;
        Ok(json!({
            "sameTask": asked["id"] == answered["id"],
            "sameContext": asked["contextId"] == answered["contextId"],
            "asked": asked,
            "answered": answered,
        }))
    }

    async fn context(&mut self) -> Done {
        let done = self.completed().await?;
        let of = json!({"contextId": done["contextId"]});
        let again = sent(&self.client, json!([{"text": "hello"}]), of, true).await?;
        Ok(json!({
            "sameContext": again["contextId"] == done["contextId"],
            "sameTask": again["id"] == done["id"],
        }))
    }
}
