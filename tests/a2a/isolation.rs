//! Two users: what is one's is, for the other, not there. Byte for byte, whatever is asked, in every dialect.

use std::collections::BTreeSet;

use openfang_a2a::dialect::Dialect;
use openfang_a2a::operation::Method;
use openfang_kernel::users::{KeyWanted, MadeKey, UserWanted};
use openfang_testkit::http::{Answer, Client};
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::calls::{Call, Names, every};
use super::wire::{agents, ask, begin, config, limits, said, until};

/// A client with a key of a user who may use some agents.
pub(super) async fn user(server: &TestServer, name: &str) -> Client {
    let operator = callers::operator(&server.kernel);
    let wanted = UserWanted {
        name: name.parse().unwrap(),
        grants: ["steps", "waits", "worker"].map(|agent| format!("agent:{agent}/*")).to_vec(),
        password: None,
        again: false,
    };
    server.kernel.add_user(&operator, wanted).await.unwrap();
    server.client().bearer(key_of(server, name).await.key.expose())
}

pub(super) async fn key_of(server: &TestServer, name: &str) -> MadeKey {
    let wanted = KeyWanted {
        user: name.parse().unwrap(),
        label: "test".to_owned(),
        entry_label: None,
        profile: None,
        expires_at: None,
    };
    server.kernel.create_user_key(&callers::operator(&server.kernel), wanted).await.unwrap()
}

/// A receiver of pushes that nobody is at.
const NOWHERE: &str = "http://127.0.0.1:65535/hook";

/// A server with two users.
pub(super) async fn server() -> (TestHome, TestServer, Client, Client) {
    let home = agents(TestHome::new());
    let limits = Limits { rate_per_principal: 100_000, rate_per_principal_burst: 100_000, ..limits() };
    let default_agent = Some("steps".parse().unwrap());
    let mut config = Config { limits, default_agent, ..config() };
    config.egress.allow = vec!["127.0.0.0/8".to_owned()];
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let (ada, bob) = (user(&server, "ada").await, user(&server, "bob").await);
    (home, server, ada, bob)
}

/// Something of everything that somebody can own.
async fn things_of(owner: &Client, agent: &str) -> Names {
    let task = begin(owner, agent, "go").await;
    until(owner, &task, "TASK_STATE_WORKING").await;
    let set = json!({"taskId": task, "id": "hook-aaaa", "url": NOWHERE});
    let push = ask(owner, "CreateTaskPushNotificationConfig", set).await;
    assert_eq!(push["result"]["id"], "hook-aaaa", "{push}");
    begin(owner, "worker", "/current_time").await;
    let listed = ask(owner, "ListTasks", json!({"pageSize": 1})).await;
    Names {
        agent: agent.to_owned(),
        context: ask(owner, "GetTask", json!({"id": task})).await["result"]["contextId"]
            .as_str()
            .unwrap()
            .to_owned(),
        page: listed["result"]["nextPageToken"].as_str().unwrap().to_owned(),
        push: "hook-aaaa".to_owned(),
        url: NOWHERE.to_owned(),
        task,
    }
}

/// A name of the same form that nothing has.
fn other(name: &str) -> String {
    let turn = |c: char| match c {
        '0'..='8' => char::from(c as u8 + 1),
        '9' => '0',
        'a'..='e' => char::from(c as u8 + 1),
        'f' => 'a',
        c => c,
    };
    // The version of an id, and what stands before it, stay.
    name.chars()
        .enumerate()
        .map(|(at, c)| if at > 18 || name.len() < 18 { turn(c) } else { c })
        .collect()
}

fn others(names: &Names) -> Names {
    Names {
        task: other(&names.task),
        push: "hook-bbbb".to_owned(),
        context: other(&names.context),
        page: other(&names.page),
        ..names.clone()
    }
}

/// Everything that a client is told, without what differs from one second to the next.
fn told(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let passing = ["date", "x-trace-id"];
    let headers = answer.headers.iter().filter(|(name, _)| !passing.contains(&name.as_str()));
    (answer.status, headers.cloned().collect(), answer.body.clone())
}

/// The same, with ids and times that were just made up taken out.
fn outlined(answer: &Answer, names: &Names) -> Value {
    fn outline(value: &Value, names: &Names) -> Value {
        match value {
            Value::String(text) if *text == names.task => json!("the task"),
            Value::String(text) if *text == names.context => json!("the context"),
            Value::String(text) if text.len() == 36 && text.matches('-').count() == 4 => json!("an id"),
            Value::String(text) if text.ends_with('Z') && text.contains('T') => json!("a time"),
            Value::String(text) if text.starts_with("fresh-") => json!("a message"),
            Value::Array(all) => all.iter().map(|one| outline(one, names)).collect(),
            Value::Object(all) => all.iter().map(|(name, one)| (name.clone(), outline(one, names))).collect(),
            other => other.clone(),
        }
    }
    let documents = answer.body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let read = documents.filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let read: Vec<Value> = read.map(|value| outline(&value, names)).collect();
    json!([answer.status, read])
}

/// Whether a call makes something of the caller's own under the name that it is given.
fn makes(call: &Call) -> bool {
    matches!(call.dialect, Dialect::V01 | Dialect::OpenFang) && matches!(call.method, Method::Send | Method::Stream)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_somebody_elses_gives_the_same_bytes_as_what_is_not_there() {
    let (_home, server, ada, bob) = server().await;
    let hers = things_of(&ada, "waits").await;
    let nobodys = others(&hers);
    assert_eq!((hers.task.len(), hers.page.len()), (nobodys.task.len(), nobodys.page.len()));
    let mut seen = BTreeSet::new();
    let mut pairs: Vec<(Call, Call)> = every(&hers).into_iter().zip(every(&nobodys)).collect();
    // Those that make something of that name come last: from then on there is one.
    pairs.sort_by_key(|(call, _)| makes(call));
    for (of_hers, of_nobody) in pairs {
        let label = format!("{:?} {} {} {}", of_hers.dialect, of_hers.method, of_hers.verb, of_hers.path);
        let resumed = |call: &Call, names: &Names| {
            let headers = [call.headers.clone(), vec![("last-event-id", format!("{}:1", names.task))]].concat();
            Call { headers, ..call.clone() }
        };
        let resumes = of_hers.method == Method::Subscribe;
        let pairs = [(of_hers.clone(), of_nobody.clone()), (resumed(&of_hers, &hers), resumed(&of_nobody, &nobodys))];
        for (of_hers, of_nobody) in pairs.into_iter().take(if resumes { 2 } else { 1 }) {
            let (hers_said, nobodys_said) = (of_hers.send(&bob).await, of_nobody.send(&bob).await);
            if makes(&of_hers) {
                assert_eq!(outlined(&hers_said, &hers), outlined(&nobodys_said, &nobodys), "{label}");
            } else {
                assert_eq!(told(&hers_said), told(&nobodys_said), "{label}");
            }
            assert!(hers_said.status < 500, "{label}: {hers_said:?}");
            assert!(!hers_said.body.contains(&hers.task) || makes(&of_hers), "{label}: {hers_said:?}");
        }
        seen.insert((format!("{:?}", of_hers.dialect), of_hers.method.to_string()));
    }
    assert_eq!(seen.len(), 3 + 7 + 10 + 11 + 11, "{seen:?}");

    // Nothing that was hers has changed.
    assert_eq!(ask(&ada, "GetTask", json!({"id": hers.task})).await["result"]["status"]["state"], "TASK_STATE_WORKING");
    let pushes = ask(&ada, "ListTaskPushNotificationConfigs", json!({"taskId": hers.task})).await;
    assert_eq!(pushes["result"]["configs"].as_array().map(Vec::len), Some(1), "{pushes}");
    ask(&ada, "CancelTask", json!({"id": hers.task})).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_shows_what_is_ones_own_however_it_is_asked_for() {
    let (_home, server, ada, bob) = server().await;
    let hers = things_of(&ada, "waits").await;
    let his = things_of(&bob, "waits").await;
    let listings = [
        json!({}),
        json!({"pageSize": 100}),
        json!({"tenant": "waits"}),
        json!({"status": "TASK_STATE_WORKING"}),
        json!({"statusTimestampAfter": "2000-01-01T00:00:00Z"}),
        json!({"includeArtifacts": true, "historyLength": 5}),
    ];
    for params in listings {
        let listed = ask(&bob, "ListTasks", params.clone()).await;
        let tasks = listed["result"]["tasks"].as_array().unwrap_or_else(|| panic!("{listed}"));
        assert!(tasks.iter().any(|task| task["id"] == his.task.as_str()), "{params}: {listed}");
        assert!(!listed.to_string().contains(&hers.task), "{params}: {listed}");
    }
    for path in ["/a2a/rest/tasks", "/a2a/rest/v1/tasks", "/a2a/agents/waits/tasks", "/api/tasks"] {
        let listed = bob.get(path).await;
        assert!(listed.body.contains(&his.task) && !listed.body.contains(&hers.task), "{path}: {listed:?}");
    }
    let in_hers = ask(&bob, "ListTasks", json!({"contextId": hers.context})).await;
    assert_eq!(in_hers["result"]["totalSize"], 0, "{in_hers}");
    // Writing into somebody else's conversation begins one's own of that name, and nobody else sees it.
    let mut message = said("into-hers", "/current_time");
    message["contextId"] = json!(hers.context);
    let sent = ask(&bob, "SendMessage", json!({"tenant": "worker", "message": message})).await;
    assert_eq!(sent["result"]["task"]["contextId"], hers.context.as_str(), "{sent}");
    let of_hers = ask(&ada, "ListTasks", json!({"contextId": hers.context})).await;
    assert_eq!(of_hers["result"]["totalSize"], 1, "{of_hers}");
    // His own task cannot be resumed from an event of hers.
    for task in [&hers.task, &other(&hers.task)] {
        let resumed = bob.clone().with("last-event-id", &format!("{task}:1"));
        let refused = ask(&resumed, "SubscribeToTask", json!({"id": his.task})).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    server.stop().await;
}

#[tokio::test]
async fn two_owners_may_give_their_tasks_the_same_name() {
    let (_home, server, ada, bob) = server().await;
    let send = |text: &str| json!({"id": "my-task", "sessionId": "s", "message": {"role": "user", "parts": [{"type": "text", "text": text}]}});
    let agent = async |client: &Client, text: &str| {
        let body = super::wire::request(1, "tasks/send", send(text));
        client.post("/a2a/agents/worker", &body).await.json()["result"].clone()
    };
    let hers = agent(&ada, "/get_greeting {\"name\": \"Ada\"}").await;
    let his = agent(&bob, "/get_greeting {\"name\": \"Bob\"}").await;
    assert_eq!((&hers["id"], &his["id"]), (&json!("my-task"), &json!("my-task")), "{hers} {his}");
    for (client, task, name) in [(&ada, &hers, "Ada"), (&bob, &his, "Bob")] {
        let seen = ask(client, "tasks/get", json!({"id": "my-task"})).await["result"].clone();
        assert_eq!(seen["artifacts"], task["artifacts"]);
        assert!(seen["artifacts"].to_string().contains(name), "{seen}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_one_may_not_talk_to_gives_the_same_bytes_as_one_that_is_not_there() {
    let (_home, server, ada, _bob) = server().await;
    let own = things_of(&ada, "waits").await;
    let at = |agent: &str| Names { agent: agent.to_owned(), ..own.clone() };
    for (kept, unknown) in every(&at("asks")).into_iter().zip(every(&at("nobo"))) {
        if kept.path != unknown.path {
            let (kept_said, unknown_said) = (kept.send(&ada).await, unknown.send(&ada).await);
            assert_eq!(without_trace(&kept_said), without_trace(&unknown_said), "{} {}", kept.verb, kept.path);
        }
    }
    for method in ["SendMessage", "ListTasks", "GetTask", "GetExtendedAgentCard"] {
        let to = async |tenant: &str| {
            let params = json!({"tenant": tenant, "id": own.task, "message": said("m", "hello")});
            told(&ada.post("/a2a", &super::wire::request(1, method, params)).await)
        };
        assert_eq!(to("asks").await, to("nobo").await, "{method}");
    }
    let listed = ada.get("/a2a/agents").await.json();
    let names: Vec<&str> = listed["agents"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|card| card["name"].as_str())
        .collect();
    assert_eq!(names, ["steps", "waits", "worker"], "{listed}");
    server.stop().await;
}

/// An answer of the house itself carries the id that its log has.
fn without_trace(answer: &Answer) -> (u16, String) {
    let trace = answer.header("x-trace-id").unwrap_or_default();
    (answer.status, answer.body.replace(trace, "the trace"))
}
