//! Header parsing.

use super::*;

fn request(uri: &str, headers: &[(&str, &str)], body: &'static str) -> HttpRequest<()> {
    let mut made = http::Request::post(uri);
    for (name, value) in headers {
        made = made.header(*name, *value);
    }
    HttpRequest::new((), None, made.body(()).unwrap().into_parts().0, Bytes::from_static(body.as_bytes()))
}

#[test]
fn the_query_says_the_version_too_and_the_header_wins() {
    let version = |uri, headers: &[(&str, &str)]| request(uri, headers, "").parameters.version;
    assert_eq!(version("/?A2A-Version=0.3", &[]).as_deref(), Some("0.3"));
    assert_eq!(version("/?A2A-Version=0.3", &[("A2A-Version", "1.0")]).as_deref(), Some("1.0"));
    assert_eq!(version("/?other=1", &[]), None);
}

#[test]
fn extensions_are_read_from_both_headers_and_however_often_they_come() {
    let headers = [("A2A-Extensions", "urn:a, urn:b"), ("A2A-Extensions", "urn:c"), ("X-A2A-Extensions", "urn:d")];
    assert_eq!(request("/", &headers, "").parameters.extensions, ["urn:a", "urn:b", "urn:c", "urn:d"]);
}

#[test]
fn the_last_event_is_handed_on_as_it_is() {
    let parameters = request("/", &[("Last-Event-ID", "t:4")], "").parameters;
    assert_eq!(parameters.last_event_id.as_deref(), Some("t:4"));
}

#[test]
fn a_body_is_json_if_its_type_says_so_or_if_there_is_none() {
    for (content_type, body, expected) in [
        (Some("application/json; charset=utf-8"), "{}", true),
        (Some("Application/A2A+JSON"), "{}", true),
        (Some("text/plain"), "{}", false),
        (Some("text/plain"), "", false),
        (None, "{}", false),
        (None, "", true),
    ] {
        let headers: Vec<_> = content_type.map(|value| ("Content-Type", value)).into_iter().collect();
        assert_eq!(request("/", &headers, body).is_json, expected, "{content_type:?} {body:?}");
    }
}

#[test]
fn what_is_accepted_decides_how_answers_are_written() {
    let accepts = |value| request("/", &[("Accept", value)], "").accepts;
    assert_eq!(accepts("application/json, application/a2a+json"), Accepts { a2a_json: true, events_only: false });
    assert_eq!(accepts("text/event-stream"), Accepts { a2a_json: false, events_only: true });
    assert_eq!(accepts("text/event-stream, application/json"), Accepts::default());
    assert_eq!(accepts("text/event-stream, */*"), Accepts::default());
}
