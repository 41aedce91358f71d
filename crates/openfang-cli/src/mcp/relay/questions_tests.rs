//! Questions keep apart whoever asks them.

use serde_json::json;

use super::*;

fn bytes(frame: &serde_json::Value) -> Bytes {
    Bytes::from(frame.to_string())
}

fn answer(generation: u32, id: &serde_json::Value) -> Option<Bytes> {
    let frame = bytes(&json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept"}}));
    answered(generation, ClientFrame::read(&frame), frame)
}

#[test]
fn the_first_link_is_relayed_to_the_byte() {
    let question = bytes(&json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}));

    assert_eq!(read(0, question.clone()), (ServerFrame::Question(Id::Number(1)), question));
    assert!(answer(0, &json!(1)).is_some());
}

#[test]
fn a_later_link_asks_under_another_name_and_hears_only_its_own_answers() {
    let question = bytes(&json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"a": 1}}));

    let (kind, seen) = read(2, question);
    assert_eq!(kind, ServerFrame::Question(Id::String("openfang-2-1".to_owned())));
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&seen).unwrap(),
        json!({"jsonrpc": "2.0", "id": "openfang-2-1", "method": "elicitation/create", "params": {"a": 1}})
    );

    let heard = answer(2, &json!("openfang-2-1")).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&heard).unwrap()["id"], 1);
    assert!(answer(2, &json!(1)).is_none(), "the first link asked that");
    assert!(answer(2, &json!("openfang-1-1")).is_none());
}

#[test]
fn the_beginning_of_a_subscription_is_told_apart_by_the_id_of_its_request() {
    let told = |method: &str, meta: serde_json::Value| {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta}});
        read(0, bytes(&frame)).0
    };
    let begun = "notifications/subscriptions/acknowledged";
    let id = json!({"io.modelcontextprotocol/subscriptionId": "s-1"});

    assert_eq!(told(begun, id.clone()), ServerFrame::Acknowledged(Id::String("s-1".to_owned())));
    assert_eq!(told("notifications/tools/list_changed", id), ServerFrame::Told);
    assert_eq!(told(begun, json!({})), ServerFrame::Told);
}
