//! Requests and response heads.

use super::*;
use crate::scenarios::SCENARIOS;

#[test]
fn a_request_declares_exactly_the_body_it_carries() {
    let text = String::from_utf8(request(&SCENARIOS[0], "127.0.0.1:1")).unwrap();

    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /api/tools/add_numbers HTTP/1.1\r\nhost: 127.0.0.1:1\r\nauthorization: Bearer "));
    assert!(head.ends_with(&format!("content-length: {}", body.len())));
}

#[test]
fn a_head_is_found_once_it_is_complete() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nX-A: b:c\r\n\r\n{\"a\"";

    assert_eq!(scan(&bytes[..30]).unwrap(), None);
    assert_eq!(scan(bytes).unwrap(), Some((200, 49, 12)));
    let expected = Head {
        status: 200,
        headers: vec![("content-length".to_owned(), "12".to_owned()), ("x-a".to_owned(), "b:c".to_owned())],
        len: 49,
        content_length: 12,
    };
    assert_eq!(head(bytes).unwrap(), Some(expected));
}

#[test]
fn what_the_generator_cannot_read_is_an_error() {
    assert!(scan(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    assert!(scan(b"SSH-2.0-x 200\r\ncontent-length: 1\r\n\r\n").is_err());
    assert!(scan(&[b'x'; MAX_HEAD_BYTES + 1]).is_err());
}
