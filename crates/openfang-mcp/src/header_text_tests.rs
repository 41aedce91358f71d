//! Texts as headers.

use super::*;

#[test]
fn what_can_stand_in_a_header_stands_there_and_everything_comes_back() {
    for plain in ["", "search", "file:///a b?x=1", "a=?base64?b?=", "~"] {
        assert_eq!(encoded(plain).unwrap(), plain);
    }
    for text in
        ["", "search", " a", "a ", "a\tb", "gr\u{fc}n", "a\nb", "\u{7f}", "=?base64?YQ==?=", "=?base64?", "\u{1f980}"]
    {
        let value = encoded(text).unwrap();
        assert_eq!(decoded(value.to_str().unwrap()).unwrap(), text);
    }
    assert_eq!(encoded("\u{65e5}\u{672c}").unwrap(), "=?base64?5pel5pys?=");
}

#[test]
fn a_mark_that_is_no_token_makes_no_header() {
    assert_eq!(param("Region").unwrap(), "mcp-param-region");
    assert_eq!(param("a b"), None);
    assert_eq!(param("a:b"), None);
}
