//! What clients really send.

use http::HeaderValue;

use super::*;

fn accepted(values: &[&str]) -> (bool, bool) {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(header::ACCEPT, HeaderValue::from_str(value).unwrap());
    }
    let accept = Accept::of(&headers);
    (accept.json, accept.events)
}

#[test]
fn whatever_real_clients_send_is_understood() {
    assert_eq!(accepted(&[]), (true, true));
    assert_eq!(accepted(&["*/*"]), (true, true));
    assert_eq!(accepted(&["application/json"]), (true, false));
    assert_eq!(accepted(&["text/event-stream"]), (false, true));
    assert_eq!(accepted(&["application/json, text/event-stream"]), (true, true));
    assert_eq!(accepted(&["Application/JSON;q=0.9", "text/event-stream"]), (true, true));
    assert_eq!(accepted(&["text/html"]), (true, true));
}

#[test]
fn only_json_is_json() {
    let said = |value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_str(value).unwrap());
        is_json(&headers)
    };
    assert!(said("application/json") && said("application/json; charset=utf-8") && said("APPLICATION/JSON"));
    assert!(!said("text/plain") && !said("application/x-www-form-urlencoded") && !said("application/jsonp"));
    assert!(!is_json(&HeaderMap::new()));
}
