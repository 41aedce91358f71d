//! Letting users go: what is open on a credential ends with it, and what was theirs is nobody's.

use std::time::Duration;

use openfang_kernel::{Begin, Follow};
use openfang_testkit::http::Lines;
use openfang_types::event::Until;
use openfang_types::ids::TaskId;
use openfang_types::task::TaskState;
use serde_json::json;

use super::*;

/// What is promised.
const PROMISED: Duration = Duration::from_secs(5);
const WAITER: &str = "[[rules]]\nsteps = [{ chunk = \"begun\" }, { wait_for_cancel = true }]";

/// A way to let somebody go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    RevokeKey,
    RemoveUser,
    OtherGrants,
    OtherPassword,
    LogOut,
}

async fn waiting_site() -> Site {
    Site::with(TestHome::new().with_script("waiter", &["*"], WAITER), |boot| boot).await
}

/// A stream of a task that does not end by itself.
async fn open_stream(client: &Client) -> (String, Lines) {
    let body = json!({ "text": "go", "returnImmediately": true });
    let sent = client.post("/api/agents/waiter/message", &body).await.json();
    let id = sent["task"]["id"].as_str().unwrap().to_owned();
    let mut stream = client.stream("GET", &format!("/api/tasks/{id}/events"), None).await;
    stream.event().await.unwrap();
    (id, stream)
}

/// The code of the error that a stream ends with.
async fn end_of(mut stream: Lines) -> String {
    let events = tokio::time::timeout(PROMISED, stream.events()).await.unwrap();
    let (name, _, data) = events.last().unwrap();
    assert_eq!(name, "error");
    data["error"]["code"].as_str().unwrap().to_owned()
}

async fn cancel(site: &Site, id: &str) {
    let ada = callers::user(site.kernel(), "ada", &[]);
    site.kernel().cancel_task(&ada, id.parse::<TaskId>().unwrap()).await.unwrap();
}

/// Whether a task ended because of whom it was begun by.
async fn stopped(site: &Site, id: &str) -> bool {
    let ada = callers::user(site.kernel(), "ada", &[]);
    let follow = Follow { begin: Begin::Now, until: Until::Settled };
    let mut stream = site.kernel().follow(&ada, id.parse().unwrap(), follow).await.unwrap();
    let drained = async { while stream.next().await.unwrap().is_some() {} };
    tokio::time::timeout(PROMISED, drained).await.unwrap();
    let status = site.kernel().task(&ada, id.parse().unwrap()).await.unwrap().status;
    status.state == TaskState::Failed && json!(status.message).to_string().contains("was revoked")
}

#[tokio::test]
async fn a_run_goes_on_when_its_user_is_granted_more_and_ends_when_something_is_taken_away() {
    let site = waiting_site().await;
    let (kernel, operator, ada) = (site.kernel(), callers::operator(site.kernel()), "ada".parse().unwrap());
    add(kernel, "ada", &["agent:waiter", "get_*"]).await;
    let (key, _) = key_of(kernel, "ada").await;
    let (task, _stream) = open_stream(&site.with_key(&key)).await;
    let grant = async |grants: &[&str]| {
        let grants = grants.iter().map(|grant| (*grant).to_owned()).collect();
        kernel.set_user_grants(&operator, &ada, grants).await.unwrap();
    };

    grant(&["agent:waiter/*", "get_*", "add_*"]).await;
    let state = site.with_key(&key).get(&format!("/api/tasks/{task}")).await.json()["task"]["status"]["state"].clone();
    assert_eq!(state, "working");
    grant(&["agent:waiter", "add_*"]).await;
    assert!(stopped(&site, &task).await);
    site.server.stop().await;
}

#[tokio::test]
async fn a_stream_ends_with_the_credential_it_was_opened_with() {
    let ways = [
        (Way::RevokeKey, false),
        (Way::RemoveUser, false),
        (Way::OtherGrants, false),
        (Way::RemoveUser, true),
        (Way::OtherGrants, true),
        (Way::OtherPassword, true),
        (Way::LogOut, true),
    ];
    for (way, by_cookie) in ways {
        let site = waiting_site().await;
        let (kernel, operator, ada) = (site.kernel(), callers::operator(site.kernel()), "ada".parse().unwrap());
        add(kernel, "ada", &["agent:waiter/*"]).await;
        let (key, id) = key_of(kernel, "ada").await;
        let cookie = log_in(&site.server.client(), "ada").await;
        let client = if by_cookie { site.with_cookie(&cookie) } else { site.with_key(&key) };
        let (task, stream) = open_stream(&client).await;

        match way {
            Way::RevokeKey => drop(kernel.revoke_user_key(&operator, &id).await.unwrap()),
            Way::RemoveUser => kernel.remove_user(&operator, &ada).await.unwrap(),
            Way::OtherGrants => drop(kernel.set_user_grants(&operator, &ada, vec!["get_*".into()]).await.unwrap()),
            Way::OtherPassword => {
                let password = Some(Secret::new("another horse".into()));
                drop(kernel.set_user_password(&operator, &ada, password).await.unwrap());
            }
            Way::LogOut => drop(client.post("/api/logout", &json!({})).await),
        }

        assert_eq!(end_of(stream).await, "revoked", "{way:?}");
        let status = client.get(&format!("/api/tasks/{task}")).await.status;
        assert_eq!(status, if way == Way::OtherGrants { 200 } else { 401 }, "{way:?}");
        match way {
            Way::RevokeKey | Way::RemoveUser | Way::OtherGrants => assert!(stopped(&site, &task).await, "{way:?}"),
            Way::OtherPassword | Way::LogOut => cancel(&site, &task).await,
        }
        site.server.stop().await;
    }
}

#[tokio::test]
async fn the_streams_of_others_go_on() {
    let site = waiting_site().await;
    let (kernel, operator) = (site.kernel(), callers::operator(site.kernel()));
    add(kernel, "ada", &["agent:waiter/*"]).await;
    let ((key, _), (other, other_id)) = (key_of(kernel, "ada").await, key_of(kernel, "ada").await);
    let (task, mut stream) = open_stream(&site.with_key(&key)).await;

    kernel.revoke_user_key(&operator, &other_id).await.unwrap();
    add(kernel, "bob", &["*"]).await;
    kernel.remove_user(&operator, &"bob".parse().unwrap()).await.unwrap();

    assert_eq!(site.with_key(&other).get("/api/me").await.status, 401);
    cancel(&site, &task).await;
    let events = stream.events().await;
    assert_eq!(events.last().unwrap().2["body"]["status"]["state"], "canceled", "{events:?}");
    site.server.stop().await;
}

#[tokio::test]
async fn streams_of_mcp_end_with_their_key_too() {
    let site = Site::start().await;
    add(site.kernel(), "ada", &["*"]).await;
    let (key, id) = key_of(site.kernel(), "ada").await;
    let ada = site.with_key(&key);
    let mut old = ada.stream("GET", "/sse", None).await;
    while !old.next().await.unwrap().starts_with("data:") {}
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let begun = ada
        .clone()
        .with("accept", "application/json, text/event-stream")
        .post("/mcp", &initialize)
        .await;
    let session = begun.header("mcp-session-id").unwrap();
    let mut new = ada.clone().with("mcp-session-id", session).stream("GET", "/mcp", None).await;
    assert!(new.next().await.unwrap().contains("200"));

    site.kernel().revoke_user_key(&callers::operator(site.kernel()), &id).await.unwrap();

    let ended = async {
        while old.next().await.is_some() {}
        while new.next().await.is_some() {}
    };
    tokio::time::timeout(PROMISED, ended).await.unwrap();
    site.server.stop().await;
}

#[tokio::test]
async fn with_the_first_user_whoever_came_without_a_credential_is_out() {
    let site = waiting_site().await;
    let stranger = site.server.client();
    let (task, stream) = open_stream(&stranger).await;
    assert_eq!(stranger.get("/api/me").await.json(), json!({ "user": "admin", "standing": "local" }));

    add(site.kernel(), "ada", &["*"]).await;

    assert_eq!(end_of(stream).await, "revoked");
    assert_eq!(stranger.get("/api/me").await.status, 401);
    let token = site.kernel().daemon_token().expose().to_owned();
    let admin = site.with_key(&token);
    assert_eq!(admin.send("POST", &format!("/api/tasks/{task}/cancel"), None).await.status, 200, "it is the admin's");
    site.kernel()
        .remove_user(&callers::operator(site.kernel()), &"ada".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(stranger.get("/api/me").await.status, 401, "the last user's removal opens nothing");
    site.server.stop().await;
}

#[tokio::test]
async fn what_a_removed_user_made_is_nobodys_until_it_is_handed_over() {
    let site = Site::start().await;
    let (kernel, operator) = (site.kernel(), callers::operator(site.kernel()));
    add(kernel, "ada", &["agent:starter/*"]).await;
    add(kernel, "bob", &["agent:starter/*"]).await;
    let (key, _) = key_of(kernel, "ada").await;
    let bob = site.with_key(&key_of(kernel, "bob").await.0);
    let sent = site
        .with_key(&key)
        .post("/api/agents/starter/message", &json!({ "text": "Ada" }))
        .await
        .json();
    let path = format!("/api/tasks/{}", sent["task"]["id"].as_str().unwrap());

    kernel.remove_user(&operator, &"ada".parse().unwrap()).await.unwrap();

    assert_eq!(site.with_key(&key).get(&path).await.status, 401);
    assert_eq!(bob.get(&path).await.status, 404);
    assert_eq!(site.with_key(kernel.daemon_token().expose()).get(&path).await.status, 404, "not even the admin's");
    let wanted = |again| UserWanted {
        name: "ada".parse().unwrap(),
        grants: vec!["agent:starter".into()],
        password: None,
        again,
    };
    let refused = kernel.add_user(&operator, wanted(false)).await.unwrap_err();
    assert_eq!(refused.reason(), "former_user");
    assert!(refused.to_string().contains("adding the user `again`"), "{refused}");
    kernel.add_user(&operator, wanted(true)).await.unwrap();
    assert_eq!(site.with_key(&key).get(&path).await.status, 401, "the old key stays revoked");
    let (key, _) = key_of(kernel, "ada").await;
    assert_eq!(site.with_key(&key).get(&path).await.status, 200);
    site.server.stop().await;
}
