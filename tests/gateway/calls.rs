//! Calls of servers that take too long, ask back, promise what they do not keep, or change their mind all the time.

use openfang_types::mcp_status::McpServerState;
use serde_json::{Value, json};

use super::fixture::{House, odd};

#[tokio::test]
async fn a_call_without_an_answer_is_given_up_and_the_server_is_told() {
    let mut entry = odd("slow", &[]);
    entry.timeout_secs = 1;
    let house = House::beside(entry).await;
    house.ready("slow").await;

    let said = house.says("mcp_slow_late", json!({})).await;

    assert!(said.starts_with('!') && said.contains("no answer within 1 s"), "{said}");
    // The late answer is nobody's: neither of this call nor of another.
    assert_eq!(house.says("mcp_slow_echo", json!({"text": "mine"})).await, "mine");
    assert_eq!(house.says("mcp_slow_cancelled", json!({})).await, "1");
    assert_eq!(house.status("slow").starts, 1);
    house.neighbour_works().await;
    house.close().await;
}

#[tokio::test]
async fn answers_come_in_any_order_and_each_to_its_own_call() {
    let house = House::beside(odd("shuffling", &[])).await;
    house.ready("shuffling").await;
    let calls = (0..40).map(|number| {
        let arguments = json!({"text": number.to_string(), "seconds": f64::from(40 - number) / 200.0});
        house.says("mcp_shuffling_after", arguments)
    });

    let said = futures_util::future::join_all(calls).await;

    assert!(said.iter().enumerate().all(|(number, text)| *text == number.to_string()), "{said:?}");
    let long = "\u{2028}\n\"long\" \u{1f98a} ".repeat(20_000);
    let result = house.call_at("/mcp/servers/shuffling", "echo", json!({ "text": long })).await;
    assert!(result["content"][0]["text"] == long, "a long text comes back as it was");
    house.close().await;
}

#[tokio::test]
async fn progress_gives_a_call_more_time() {
    let mut entry = odd("steady", &[]);
    entry.timeout_secs = 2;
    let house = House::beside(entry).await;
    house.ready("steady").await;

    let said = house.says("mcp_steady_progress", json!({"steps": 8, "seconds": 0.5})).await;

    assert_eq!(said, "all steps taken");
    house.close().await;
}

#[tokio::test]
async fn a_question_to_somebody_who_cannot_be_asked_is_refused_and_the_call_goes_on() {
    for options in [&[][..], &["--modern"]] {
        let house = House::beside(odd("curious", options)).await;
        house.ready("curious").await;
        for method in ["elicitation/create", "sampling/createMessage", "roots/list", "made/up"] {
            for said in [
                house.says("mcp_curious_ask", json!({ "method": method })).await,
                house
                    .call_at("/mcp/servers/curious", "ask", json!({ "method": method }))
                    .await
                    .to_string(),
            ] {
                assert!(said.contains("-32601"), "{options:?} {method}: {said}");
            }
        }
        house.close().await;
    }
}

/// A server of the newest era asks by its answer; whoever cannot be asked gets an error, and no empty result.
#[tokio::test]
async fn a_call_that_needs_an_answer_nobody_can_give_has_failed() {
    let house = House::beside(odd("curious", &["--modern"])).await;
    house.ready("curious").await;

    let said = house.says("mcp_curious_needs_input", json!({})).await;
    assert!(said.starts_with('!') && said.contains("ask"), "{said:?}");

    let call = json!({"name": "needs_input", "arguments": {}});
    let answer = house.ask("/mcp/servers/curious", "tools/call", call.clone()).await;
    assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer}");
    // The server may ask nobody, whatever the client could be asked: that is why, and not what the client lacks.
    let why = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("nobody can be asked"), "{answer}");
    let listed = json!({"name": "mcp_curious_needs_input", "arguments": {}});
    let answer = house.ask("/mcp", "tools/call", listed).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    house.close().await;
}

#[tokio::test]
async fn a_thousand_changes_in_a_moment_are_looked_at_a_few_times() {
    for options in [&[][..], &["--modern"]] {
        let house = House::beside(odd("restless", options)).await;
        house.ready("restless").await;

        assert_eq!(house.says("mcp_restless_storm", json!({"count": 1_000})).await, "told");
        house.neighbour_works().await;
        let asked = || async { house.says("mcp_restless_lists", json!({})).await.parse::<usize>().unwrap() };
        let begun = tokio::time::Instant::now();
        while asked().await < 2 {
            assert!(begun.elapsed() < super::fixture::PATIENCE, "nobody looked");
        }

        assert!(asked().await <= 50, "{}", asked().await);
        assert_eq!(house.status("restless").state, McpServerState::Ready);
        house.close().await;
    }
}

/// MCC-11.
#[tokio::test]
async fn a_structured_result_that_breaks_its_own_promise_is_an_error_to_a_model() {
    let directory = tempfile::tempdir().unwrap();
    let tools = directory.path().join("tools.json");
    let number = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let structured = json!({"name": "structured", "inputSchema": {"type": "object"}, "outputSchema": number});
    std::fs::write(&tools, json!([structured]).to_string()).unwrap();
    let house = House::beside(odd("liar", &["--tools", tools.to_str().unwrap()])).await;
    house.ready("liar").await;

    let kept = house.call("mcp_liar_structured", json!({"value": {"n": 1}})).await.unwrap();
    assert_eq!((kept.is_error, kept.structured_value()), (false, Some(json!({"n": 1}))));
    for value in [json!({"n": "one"}), json!({}), json!([1])] {
        let said = house.says("mcp_liar_structured", json!({ "value": value })).await;
        assert!(said.starts_with('!') && said.contains("schema"), "{said}");
    }
    let failed = house.call("mcp_liar_structured", json!({"value": {}, "error": true})).await.unwrap();
    assert!(failed.is_error, "an error need not keep the promise");
    house.close().await;
}

/// MCC-11: a link is shown, and nobody follows it.
#[tokio::test]
async fn a_link_in_a_result_is_never_followed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let trap = format!("http://{}/", listener.local_addr().unwrap());
    let house = House::beside(odd("leading", &[])).await;
    house.ready("leading").await;
    let link = |uri: &str| json!({"type": "resource_link", "name": "look", "uri": uri});
    let uris = [trap.as_str(), "file:///etc/passwd", "http://169.254.169.254/latest/meta-data/"];
    let content: Vec<Value> = uris.iter().map(|uri| link(uri)).collect();

    let result = json!({"result": {"content": content, "resultType": "complete"}});
    for shown in [
        serde_json::to_value(house.call("mcp_leading_raw", result.clone()).await.unwrap()).unwrap(),
        house.call_at("/mcp", "mcp_leading_raw", result.clone()).await,
        house.call_at("/mcp/servers/leading", "raw", result.clone()).await,
    ] {
        for (at, uri) in uris.iter().enumerate() {
            assert_eq!(shown["content"][at]["uri"], *uri, "{shown}");
        }
        assert!(!shown.to_string().contains("root:"), "{shown}");
    }
    house.neighbour_works().await;

    let nobody = tokio::time::timeout(std::time::Duration::ZERO, listener.accept()).await;
    assert!(nobody.is_err(), "somebody came");
    house.close().await;
}
