//! Lines that come from a pipe.

use super::*;

#[test]
fn lines_are_read_to_the_end_and_no_further_than_a_request_can_hold() {
    let mut input: &[u8] = b"first\r\n\nlast \xf0\x9f\xa6\x80";
    let mut lines = Vec::new();
    while let Some(line) = next_line(&mut input).unwrap() {
        lines.push(line);
    }
    assert_eq!(lines, ["first", "", "last \u{1f980}"]);

    let long = vec![b'x'; Limits::default().body_bytes + 2];
    assert!(next_line(&mut long.as_slice()).unwrap_err().to_string().contains("a line exceeds"));
    assert!(next_line(&mut b"\xff\n".as_slice()).unwrap_err().to_string().contains("UTF-8"));
}
