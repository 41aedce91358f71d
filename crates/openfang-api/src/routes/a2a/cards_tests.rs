//! What caches are told.

use super::*;

#[test]
fn times_are_written_as_http_wants_them() {
    assert_eq!(http_date("1994-11-06T08:49:37Z".parse().unwrap()), "Sun, 06 Nov 1994 08:49:37 GMT");
}

#[test]
fn an_entity_tag_is_known_alone_in_a_list_weakly_or_as_any() {
    for (tags, is_known) in
        [("\"a\"", true), ("\"b\", W/\"a\"", true), ("*", true), ("\"b\"", false), ("a", false), ("", false)]
    {
        assert_eq!(names(&HeaderValue::from_static(tags), "\"a\""), is_known, "{tags}");
    }
}
