//! Messages that make no task: the agent refuses them, or they say too little. And what is answered to whom by a kit's rules.

use openfang_a2a::dialect::Dialect;
use openfang_a2a::operation::Method;
use openfang_kernel::users::UserWanted;
use openfang_testkit::http::Answer;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::Config;
use serde_json::{Value, json};

use super::calls::{Call, every};
use super::hostile::{names, total};
use super::isolation::key_of;
use super::wire::{agents, begin, config, fresh, said, server};

/// The calls that send a message, each with a message of its own that continues nothing.
fn sends() -> Vec<Call> {
    let mut calls = every(&names("none", "refuses"));
    calls.retain(|call| matches!(call.method, Method::Send | Method::Stream));
    for body in calls.iter_mut().filter_map(|call| call.body.as_mut()) {
        let params = if body["params"].is_object() { &mut body["params"] } else { body };
        if params["id"].is_string() {
            params["id"] = json!(fresh());
        }
        params["message"].as_object_mut().unwrap().remove("taskId");
    }
    calls
}

/// The code of a refusal, or of the reason that HTTP+JSON gives for it; none for a success.
fn refused_with(answer: &Answer) -> Option<i64> {
    let text = answer.body.strip_prefix("data: ").unwrap_or(&answer.body);
    let error = serde_json::from_str::<Value>(text.trim()).ok()?.get("error")?.clone();
    Some(match error["details"][0]["reason"].as_str() {
        Some("CONTENT_TYPE_NOT_SUPPORTED") => -32005,
        Some("INVALID_PARAMS") => -32602,
        Some("UNSUPPORTED_OPERATION") => -32004,
        Some("PUSH_NOTIFICATION_NOT_SUPPORTED") => -32003,
        Some("TASK_NOT_FOUND") => -32001,
        Some("INTERNAL_ERROR") => -32603,
        _ => error["code"].as_i64().unwrap(),
    })
}

#[tokio::test]
async fn an_agent_that_refuses_a_message_answers_with_the_error_of_every_dialect_and_makes_no_task() {
    for (word, code) in [
        ("content-type-not-supported", -32005),
        ("invalid-params", -32602),
        ("unsupported-operation", -32004),
        ("push-notification-not-supported", -32003),
        ("task-not-found", -32001),
        ("internal-error", -32603),
    ] {
        let script = format!("[[rules]]\nsteps = [{{ refuse = \"{word}\" }}]\n");
        let home = TestHome::new().with_script("refuses", &[], &script);
        let default_agent = Some("refuses".parse().unwrap());
        let server = TestServer::start(home.boot_with(Config { default_agent, ..config() }).start().unwrap()).await;
        for call in sends() {
            let answer = call.send(&server.client()).await;
            assert_eq!(refused_with(&answer), Some(code), "{word}: {:?} {} {answer:?}", call.dialect, call.path);
            assert!(!answer.body.contains("event:"), "{word}: {answer:?}");
        }
        assert_eq!(total(&server.client()).await, 0, "{word}");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_message_says_its_role_from_0_2_on() {
    let home = agents(TestHome::new()).with_script("refuses", &[], "[[rules]]\nsteps = [{ chunk = \"taken\" }]\n");
    let default_agent = Some("refuses".parse().unwrap());
    let server = TestServer::start(home.boot_with(Config { default_agent, ..config() }).start().unwrap()).await;
    for mut call in sends() {
        for role in [None, Some(json!("ROLE_UNSPECIFIED")), Some(json!(""))] {
            let body = call.body.as_mut().unwrap();
            let params = if body["params"].is_object() { &mut body["params"] } else { body };
            let message = params["message"].as_object_mut().unwrap();
            match &role {
                None => message.remove("role"),
                Some(role) => message.insert("role".to_owned(), role.clone()),
            };
            if message.contains_key("messageId") {
                message.insert("messageId".to_owned(), json!(fresh()));
            }
            if params["id"].is_string() {
                params["id"] = json!(fresh());
            }
            let expected = match call.dialect {
                Dialect::V03 | Dialect::V03Proto | Dialect::V10 => Some(-32602),
                Dialect::V01 | Dialect::OpenFang => None,
            };
            let answer = call.send(&server.client()).await;
            assert_eq!(refused_with(&answer), expected, "{role:?} {:?} {} {answer:?}", call.dialect, call.path);
            assert!(expected.is_none() || answer.body.contains("role"), "{answer:?}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_client_of_0_3_goes_on_with_a_task_that_it_was_told_is_submitted_however_long_the_turn_takes() {
    let asks = "[[rules]]\nwhen = { turn = 1 }\nsteps = [{ delay_ms = 2500 }, { status = { state = \"input-required\" } }]\n\
         [[rules]]\nsteps = [{ chunk = \"thank you\" }]\n";
    let home = TestHome::new().with_script("slow", &[], asks);
    let server = TestServer::start(home.boot_with(config()).start().unwrap()).await;
    let client = server.client();
    let send = |message: Value| {
        let client = client.clone();
        async move { client.post("/a2a/rest/slow/v1/message:send", &json!({ "message": message })).await }
    };
    let message = |id: &str| json!({"messageId": id, "role": "ROLE_USER", "content": [{"text": "go"}]});

    let first = send(message("first")).await.json();
    let task = first["task"]["id"].as_str().unwrap_or_else(|| panic!("{first}"));
    let mut next = message("second");
    next["taskId"] = json!(task);
    let answer = send(next).await;

    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["task"]["id"], task, "{answer:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_context_that_a_client_of_0_3_made_up_does_not_keep_it_from_its_task() {
    let asks = "[[rules]]\nwhen = { turn = 1 }\nsteps = [{ status = { state = \"input-required\" } }]\n\
         [[rules]]\nsteps = [{ chunk = \"thank you\" }]\n";
    let home = TestHome::new().with_script("asks", &[], asks);
    let server = TestServer::start(home.boot_with(config()).start().unwrap()).await;
    let client = server.client();
    let send = async |message: Value| {
        client.post("/a2a/rest/asks/v1/message:send", &json!({ "message": message })).await.json()["task"].clone()
    };
    let message = |id: &str| json!({"messageId": id, "role": "ROLE_USER", "content": [{"text": "go"}]});
    let first = send(message("first")).await;

    let mut next = message("second");
    next["taskId"] = first["id"].clone();
    next["contextId"] = json!("made-up");
    let second = send(next).await;

    assert!(first["id"].is_string(), "{first}");
    assert_eq!((&second["id"], &second["contextId"]), (&first["id"], &first["contextId"]), "{second}");
    server.stop().await;
}

#[tokio::test]
async fn a_flood_of_tasks_that_are_not_there_can_be_seen_in_the_metrics() {
    let (_home, server) = server().await;
    for number in 0..5 {
        let answer = server.client().get(&format!("/a2a/rest/tasks/nobody-has-{number}")).await;
        assert_eq!(answer.status, 404, "{answer:?}");
    }

    let metrics = server.kernel.metrics();
    assert!(metrics.contains("openfang_a2a_unknown_tasks_total 5\n"), "{metrics}");
    server.stop().await;
}

#[tokio::test]
async fn messages_that_wait_for_a_turn_are_bounded_for_each_owner_and_end_with_the_task() {
    let home = TestHome::new().with_script("slow", &[], "[[rules]]\nsteps = [{ delay_ms = 600000 }]\n");
    let mut config = config();
    config.limits.streams_per_owner = 1;
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = server.client();
    let message = |id: &str| json!({"messageId": id, "role": "ROLE_USER", "content": [{"text": "go"}]});
    let path = "/a2a/rest/slow/v1/message:send";
    let first = client.post(path, &json!({ "message": message("first") })).await.json();
    let task = first["task"]["id"].as_str().unwrap_or_else(|| panic!("{first}")).to_owned();
    let mut next = message("second");
    next["taskId"] = json!(task);
    let follow_up = json!({ "message": next });
    let (one, two) = (client.post(path, &follow_up), client.post(path, &follow_up));
    tokio::pin!(one, two);

    // Whichever comes second has no room, and the other waits.
    let refused = tokio::select! { answer = &mut one => (answer, &mut two), answer = &mut two => (answer, &mut one) };
    assert!(refused.0.status >= 400, "{:?}", refused.0);
    let canceled = client.post(&format!("/a2a/rest/slow/v1/tasks/{task}:cancel"), &json!({})).await;
    assert_eq!(canceled.status, 200, "{canceled:?}");

    let ended = refused.1.await;
    assert!(ended.status >= 400, "a task that was canceled takes no message: {ended:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_push_configuration_that_was_made_over_http_is_answered_with_200() {
    let home = agents(TestHome::new());
    let mut config = config();
    config.egress.allow = vec!["127.0.0.0/8".to_owned()];
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = server.client();
    let task = begin(&client, "waits", "go").await;
    let names = super::calls::Names { url: "http://127.0.0.1:65535/hook".to_owned(), ..names(&task, "waits") };
    let calls = every(&names).into_iter().filter(|call| call.method == Method::SetPush && !call.is_rpc());
    for call in calls {
        let answer = call.send(&client).await;
        assert_eq!(answer.status, 200, "{} {answer:?}", call.path);
    }
    server.stop().await;
}

#[tokio::test]
async fn who_may_see_no_agent_is_told_that_there_is_no_card() {
    let (_home, server) = server().await;
    let operator = callers::operator(&server.kernel);
    let wanted = UserWanted { name: "eve".parse().unwrap(), grants: Vec::new(), password: None, again: false };
    server.kernel.add_user(&operator, wanted).await.unwrap();
    let eve = server.client().bearer(key_of(&server, "eve").await.key.expose());
    for path in ["/a2a/rest/extendedAgentCard", "/a2a/rest/v1/card"] {
        let answer = eve.get(path).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
    let said = json!({ "message": said("m", "hello") });
    assert!(eve.post("/a2a/rest/message:send", &said).await.status >= 400);
    server.stop().await;
}
