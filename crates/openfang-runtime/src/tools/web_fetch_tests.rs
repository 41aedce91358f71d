//! Which headers are sent, and which part of a text is returned.

use std::collections::BTreeMap;

use super::{Args, Method, Piece, headers};

fn args(max_chars: Option<usize>, offset: usize) -> Args {
    let (url, headers) = (String::new(), BTreeMap::new());
    Args { url, method: Method::Get, headers, body: None, max_chars, offset }
}

#[test]
fn a_text_is_returned_in_pieces_that_join_to_the_whole() {
    let text = "aäböc😀d";
    let mut whole = String::new();
    let mut offset = 0;
    loop {
        let piece = Piece::of(text, &args(Some(2), offset));
        whole.push_str(piece.text);
        match piece.next {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(whole, text);
    assert_eq!(Piece::of(text, &args(Some(usize::MAX), usize::MAX)).text, "");
    assert_eq!(Piece::of(text, &args(None, 5)).text, "😀d");
}

#[test]
fn headers_of_credentials_and_of_the_connection_are_refused() {
    let sent = |name: &str, value: &str| headers::checked(&BTreeMap::from([(name.to_owned(), value.to_owned())]));
    for name in
        ["Host", "authorization", "COOKIE", "Proxy-Authorization", "transfer-encoding", "Connection", "content-length"]
    {
        assert!(sent(name, "x").is_err(), "{name}");
    }
    for (name, value) in [("x y", "z"), ("", "z"), ("x", "a\r\nHost: b"), ("x", "\0"), ("x\n", "b\u{7f}")] {
        assert!(sent(name, value).is_err(), "{name:?} {value:?}");
    }
    let kept = sent("Accept-Language", "de").unwrap();
    assert_eq!(kept.get("accept-language").unwrap(), "de");
    let many = (0..17).map(|n| (format!("x-{n}"), String::new())).collect();
    assert!(headers::checked(&many).is_err());
}
