//! The rules of redirects, where no socket is needed.

use super::*;

fn hop(url: &str, body: &'static str) -> Hop {
    let target = Guard::default().foreign(url).unwrap().into();
    let body = Bytes::from_static(body.as_bytes());
    Hop { method: Method::POST, target, headers: HeaderMap::new(), body, redirects: Redirects::Any }
}

fn next(hop: &Hop, status: u16, location: &'static str) -> Result<Option<Hop>, HttpError> {
    let headers = [(header::LOCATION, http::HeaderValue::from_static(location))].into_iter().collect();
    hop.next(StatusCode::from_u16(status).unwrap(), &headers, &Guard::default())
}

#[test]
fn there_is_no_way_from_https_to_http_whatever_the_status() {
    for status in [301, 302, 303, 307, 308] {
        let Err(error) = next(&hop("https://example.com/", ""), status, "http://example.com/") else {
            panic!("{status} was followed")
        };

        assert!(matches!(error, HttpError::Downgrade { .. }), "{status}: {error:?}");
    }
}

#[test]
fn a_body_goes_along_from_http_to_https_of_the_same_host_at_the_usual_ports_only() {
    let upgraded = next(&hop("http://example.com/", "body"), 307, "https://example.com/").unwrap().unwrap();
    assert_eq!((upgraded.method, upgraded.body), (Method::POST, Bytes::from_static(b"body")));
    for (from, to) in [
        ("http://example.com:8080/", "https://example.com/"),
        ("http://example.com/", "https://example.com:8443/"),
        ("http://example.com/", "https://www.example.com/"),
        ("https://example.com/", "https://example.com:8443/"),
        ("http://example.com/", "http://example.org/"),
    ] {
        let outcome = next(&hop(from, "body"), 308, to);

        assert!(matches!(outcome, Err(HttpError::BodyAcrossOrigins { .. })), "{from} to {to}");
    }
}

#[test]
fn secrets_do_not_survive_the_change_to_https() {
    let mut hop = hop("http://example.com/", "");
    hop.headers.insert(header::AUTHORIZATION, http::HeaderValue::from_static("s3cret"));

    let upgraded = next(&hop, 307, "https://example.com/").unwrap().unwrap();

    assert!(upgraded.headers.is_empty());
}

#[test]
fn whoever_must_deliver_a_body_is_not_led_to_a_question_without_one() {
    let hop = Hop { redirects: Redirects::Unchanged, ..hop("https://example.com/", "body") };
    for status in [301, 302, 303] {
        assert!(next(&hop, status, "/x").unwrap().is_none(), "{status} is an answer");
    }
    for status in [307, 308] {
        assert_eq!(next(&hop, status, "/x").unwrap().unwrap().body, "body", "{status}");
    }
}

#[test]
fn head_stays_head_after_303() {
    let mut hop = hop("https://example.com/", "");
    hop.method = Method::HEAD;

    assert_eq!(next(&hop, 303, "/x").unwrap().unwrap().method, Method::HEAD);
}
