//! Invalid requests are refused in every dialect and method, and the error names the invalid member.

use serde_json::{Value, json};

use super::super::samples::*;
use super::super::*;

/// Every location in a document, as a JSON pointer. Metadata is skipped, because any content is valid there.
fn places(document: &Value, at: &str, found: &mut Vec<String>) {
    let mut walk = |key: String, inner: &Value| {
        let place = format!("{at}/{key}");
        found.push(place.clone());
        if key != "metadata" {
            places(inner, &place, found);
        }
    };
    match document {
        Value::Object(members) => members.iter().for_each(|(key, inner)| walk(key.clone(), inner)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, inner)| walk(at.to_string(), inner)),
        _ => {}
    }
}

/// The same location in the notation of errors: `message.parts[0].text`.
fn path(pointer: &str) -> String {
    pointer.split('/').skip(1).fold(String::new(), |path, key| match key.parse::<usize>() {
        Ok(at) => format!("{path}[{at}]"),
        Err(_) if path.is_empty() => key.to_owned(),
        Err(_) => format!("{path}.{key}"),
    })
}

fn each_place(mut check: impl FnMut(Dialect, Method, &Value, &str)) {
    for dialect in Dialect::ALL {
        for method in Method::ALL {
            let good = valid(dialect, method);
            if decoded(dialect, method, &good).is_err() {
                assert!(dialect.methods().iter().all(|(_, known)| *known != method), "{dialect:?} {method}");
                continue;
            }
            let mut found = Vec::new();
            places(&good, "", &mut found);
            for place in found {
                check(dialect, method, &good, &place);
            }
        }
    }
}

fn with(document: &Value, place: &str, value: Value) -> Value {
    let mut changed = document.clone();
    *changed.pointer_mut(place).unwrap() = value;
    changed
}

#[test]
fn nothing_that_is_sent_makes_a_decoder_panic_or_talk_too_much() {
    let long = "x".repeat(10_000);
    let junk = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}"),
        json!(long),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!({"": {}}),
        json!([null]),
        json!({"text": long}),
    ];
    for value in &junk {
        for (dialect, method) in Dialect::ALL.into_iter().flat_map(|d| Method::ALL.map(|m| (d, m))) {
            judged(dialect, method, value);
        }
    }
    each_place(|dialect, method, good, place| {
        for value in &junk {
            judged(dialect, method, &with(good, place, value.clone()));
        }
    });
}

/// Decodes the parameters. A refusal must be an error about parameters, and short.
fn judged(dialect: Dialect, method: Method, params: &Value) {
    match decoded(dialect, method, params) {
        Ok(_) | Err(A2aError::MethodNotFound(_)) => {}
        Err(A2aError::InvalidParams { field, why }) => {
            assert!(!why.is_empty() && why.len() < 400 && field.len() < 400, "{field}: {why}");
        }
        Err(other) => panic!("{dialect:?} {method}: {other:?}"),
    }
}

#[test]
fn a_member_of_the_wrong_type_is_refused_and_named() {
    each_place(|dialect, method, good, place| {
        let wrong = match good.pointer(place).unwrap() {
            Value::String(_) => json!({"no": "text"}),
            Value::Number(_) | Value::Bool(_) => json!("neither"),
            Value::Array(_) | Value::Object(_) => json!("flat"),
            Value::Null => unreachable!(),
        };
        // The kind of a message is not checked.
        if place == "/message/kind" {
            return;
        }
        let (field, why) = refusal(dialect, method, &with(good, place, wrong));
        assert_eq!(field, path(place), "{dialect:?} {method}: {why}");
    });
}

#[test]
fn an_object_is_not_taken_from_a_list_of_its_members() {
    each_place(|dialect, method, good, place| {
        if good.pointer(place).unwrap().is_object() {
            let (field, why) = refusal(dialect, method, &with(good, place, json!(["m", "c", "t"])));
            assert_eq!((field, why), (path(place), "it must be an object".to_owned()), "{dialect:?} {method}");
        }
    });
    for method in Method::ALL {
        let (field, why) = refusal(Dialect::V10, method, &json!(["t"]));
        assert_eq!((field.as_str(), why.as_str()), ("", "it must be an object"));
    }
}

#[test]
fn null_is_as_good_as_absent_everywhere() {
    each_place(|dialect, method, good, place| {
        let (parent, key) = place.rsplit_once('/').unwrap();
        if key.parse::<usize>().is_ok() {
            return;
        }
        let mut absent = good.clone();
        absent.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
        let fresh = |request: Result<Request, A2aError>| request.map(without_fresh_id);

        let null = fresh(decoded(dialect, method, &with(good, place, Value::Null)));

        assert_eq!(null, fresh(decoded(dialect, method, &absent)), "{dialect:?} {method} {place}");
    });
}

/// 0.1 has no message ids, so each decoding generates one.
fn without_fresh_id(mut request: Request) -> Request {
    if let crate::operation::Operation::Send(sending) = &mut request.operation {
        sending.message.message_id = "m".parse().unwrap();
    }
    request
}

/// Parameters that must be refused: the method, the location, the value there, and the field the error names.
fn meanings(dialect: Dialect) -> Vec<(Method, &'static str, Value, &'static str)> {
    use Method::{Get, List, Send, SetPush, Stream};
    let long = json!("x".repeat(257));
    let parts = if dialect == Dialect::V03Proto { "/message/content" } else { "/message/parts" };
    let mut wrong = vec![
        (Send, "/message", Value::Null, "message"),
        (Send, "/message", json!({}), if by_sender(dialect) { "message.messageId" } else { "message.parts" }),
        (Send, parts, json!([]), "message.parts"),
        (Send, parts, json!([{}]), "message.parts[0]"),
        (Send, parts, json!([{"text": "a"}, {"metadata": {}}]), "message.parts[1]"),
        (Send, parts, json!([{"text": "a", "data": {"data": {}}}]), "message.parts[0]"),
        (Send, "/message/role", json!("ROLE_AGENT"), "message.role"),
        (Send, "/message/role", json!("agent"), "message.role"),
        (Send, "/message/role", json!(2), "message.role"),
        (Send, "/message/role", json!("system"), "message.role"),
    ];
    match dialect {
        Dialect::OpenFang | Dialect::V01 => wrong.extend([
            (Send, "/historyLength", json!(-1), "historyLength"),
            (Send, "/historyLength", json!(1.5), "historyLength"),
            (Send, "/id", long.clone(), "id"),
            (Send, "/sessionId", json!("a\nb"), "sessionId"),
            (Send, "/pushNotification/url", json!(""), "pushNotification.url"),
        ]),
        Dialect::V03 | Dialect::V03Proto | Dialect::V10 => wrong.extend([
            (Stream, "/message/messageId", json!(""), "message.messageId"),
            (Stream, "/message/messageId", long.clone(), "message.messageId"),
            (Stream, "/message/taskId", long.clone(), "message.taskId"),
            (Stream, "/message/contextId", long.clone(), "message.contextId"),
            (Send, "/configuration/historyLength", json!(-1), "configuration.historyLength"),
            (Send, "/configuration/historyLength", json!(0.5), "configuration.historyLength"),
            (Send, "/configuration/historyLength", json!("many"), "configuration.historyLength"),
        ]),
    }
    if matches!(dialect, Dialect::V10 | Dialect::V03) {
        wrong.push((Send, "/message/referenceTaskIds", json!(["a", ""]), "message.referenceTaskIds[1]"));
        wrong.push((Get, "/id", json!(""), "id"));
        wrong.push((Get, "/id", long.clone(), "id"));
    }
    if dialect == Dialect::V10 {
        wrong.extend([
            (Get, "/historyLength", json!(-1), "historyLength"),
            (List, "/status", json!("TASK_STATE_UNKNOWN"), "status"),
            (List, "/status", json!(9), "status"),
            (List, "/pageSize", json!(0), "pageSize"),
            (List, "/pageSize", json!(101), "pageSize"),
            (List, "/statusTimestampAfter", json!("yesterday"), "statusTimestampAfter"),
            (Send, "/tenant", long, "tenant"),
            (Send, parts, json!([{"raw": "not base64!"}]), "message.parts[0].raw"),
            (Send, parts, json!([{"text": "a", "url": "https://e/"}]), "message.parts[0]"),
            (SetPush, "/url", json!(""), "url"),
            (SetPush, "/url", json!("x".repeat(9_000)), "url"),
            (SetPush, "/token", json!("a\r\nX-Evil: 1"), "token"),
            (SetPush, "/token", json!("x".repeat(5_000)), "token"),
            (SetPush, "/authentication/credentials", json!("a\nb"), "authentication.credentials"),
            (SetPush, "/authentication/scheme", json!("Bearer x"), "authentication.scheme"),
            (SetPush, "/authentication", json!({"credentials": "c"}), "authentication.scheme"),
        ]);
    }
    if dialect == Dialect::V03 {
        wrong.extend([
            (Send, parts, json!([{"kind": "data", "data": [1]}]), "message.parts[0].data"),
            (Send, parts, json!([{"kind": "text", "data": {}}]), "message.parts[0].kind"),
            (Send, parts, json!([{"kind": "video", "text": "a"}]), "message.parts[0].kind"),
            (Send, parts, json!([{"kind": "file", "file": {}}]), "message.parts[0].file"),
            (Send, parts, json!([{"kind": "file", "file": {"bytes": "AA==", "uri": "u"}}]), "message.parts[0].file"),
            (SetPush, "/taskId", json!(""), "taskId"),
            (SetPush, "/pushNotificationConfig", Value::Null, "pushNotificationConfig"),
            (SetPush, "/pushNotificationConfig/url", Value::Null, "pushNotificationConfig.url"),
        ]);
    }
    wrong
}

fn by_sender(dialect: Dialect) -> bool {
    match dialect {
        Dialect::OpenFang | Dialect::V01 => false,
        Dialect::V03 | Dialect::V03Proto | Dialect::V10 => true,
    }
}

#[test]
fn what_is_wrong_in_meaning_is_refused_and_named() {
    for dialect in Dialect::ALL {
        for (method, place, value, named) in meanings(dialect) {
            let params = with(&valid(dialect, method), place, value);
            let (field, why) = refusal(dialect, method, &params);
            assert_eq!(field, named, "{dialect:?} {method} {place}: {why}");
        }
    }
}

#[test]
fn a_secret_of_the_wrong_kind_is_not_repeated() {
    let params = with(&valid(Dialect::V10, Method::SetPush), "/authentication", json!("Bearer s3cret"));
    assert_eq!(refusal(Dialect::V10, Method::SetPush, &params).1, "it must be an object");
    let params = with(&valid(Dialect::V10, Method::SetPush), "/token", json!(["s3cret"]));
    assert!(!refusal(Dialect::V10, Method::SetPush, &params).1.contains("s3cret"));
}
