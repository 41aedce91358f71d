//! Callers of one server: what one of them does or holds costs the others nothing.

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::json;

use super::fixture::{House, odd};

const AT: &str = "/mcp/servers/odd";

async fn legacy(client: &Client, path: &str) -> Client {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let answer = client.post(path, &begin).await;
    client.clone().with("mcp-session-id", answer.header("mcp-session-id").unwrap())
}

#[tokio::test]
async fn a_session_that_ends_at_one_endpoint_has_ended_at_all_of_them() {
    let house = House::with([odd("odd", &[])]).await;
    house.ready("odd").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (here, there) in [("/mcp", AT), (AT, "/mcp")] {
        let client = legacy(&house.server.client(), here).await;
        assert_eq!(client.post(here, &ping).await.status, 200);
        assert_eq!(client.post(there, &ping).await.status, 200);
        let mut stream = client.stream("GET", there, None).await;
        while !stream.next().await.unwrap().is_empty() {}

        assert_eq!(client.send("DELETE", here, None).await.status, 200);

        while stream.next().await.is_some() {}
        assert_eq!(client.post(there, &ping).await.status, 404, "ended at {here}");
        assert_eq!(client.send("DELETE", there, None).await.status, 404);
    }
    house.close().await;
}

#[tokio::test]
async fn a_user_who_holds_all_conversations_that_it_may_have_leaves_others_theirs() {
    let mut entry = odd("odd", &[]);
    (entry.interactive, entry.timeout_secs) = (true, 60);
    let limits = Limits { conversations_per_owner: 2, ..Limits::default() };
    let config = Config { mcp_servers: vec![entry], limits, ..crate::http::any_port() };
    let house = House::configured(TestHome::new(), config, |boot| boot).await;
    house.ready("odd").await;
    let (greedy, other) =
        (callers::user(house.kernel(), "greedy", &["mcp_*"]), callers::user(house.kernel(), "other", &["mcp_*"]));
    let never = || crate::support::call(house.kernel(), &greedy, "mcp_odd_never", json!({}));
    let held = futures_util::future::join_all((0..80).map(|_| never()));

    let answer = tokio::select! {
        biased;
        held = held => panic!("{held:?}"),
        answer = crate::support::call(house.kernel(), &other, "mcp_odd_echo", json!({"text": "mine"})) => answer,
    };

    assert_eq!(answer.unwrap().joined_text(), "mine");
    house.close().await;
}
