//! Which URIs a template stands for, and which are nobody's but ours.

use super::*;

fn matches(template: &str, uri: &str) -> bool {
    UriTemplate::of(template).unwrap().matches(uri)
}

#[test]
fn a_variable_stands_for_one_segment_and_a_reserved_one_for_many() {
    let rows = [
        ("demo://text/{id}", "demo://text/7", true),
        ("demo://text/{id}", "demo://text/", false),
        ("demo://text/{id}", "demo://text/7/8", false),
        ("demo://{a}/{b}/end", "demo://x/y/end", true),
        ("demo://{a}/{b}/end", "demo://x/y/ende", false),
        ("file:///{+path}", "file:///a/b/c", true),
        ("file://{/path*}", "file:///a/b", true),
        ("web://page{?q,r}", "web://page", true),
        ("web://page{?q,r}", "web://page?q=1&r=2", true),
        ("pic://{name}{.kind}", "pic://cat.png", true),
    ];
    for (template, uri, expected) in rows {
        assert_eq!(matches(template, uri), expected, "{template} {uri}");
    }
}

#[test]
fn a_template_whose_first_segment_is_a_variable_is_none() {
    for text in ["{+anything}", "{scheme}://x", "a{b}://x", "no-scheme", "://x", "1a://x", "a://{open"] {
        assert_eq!(UriTemplate::of(text), None, "{text}");
    }
}

#[test]
fn what_begins_with_our_names_is_ours_however_it_is_spelled() {
    for uri in ["openfang://tasks/x", "OpenFang://tasks/x", "openfang:{+x}", "skill://openfang/x", "skill://OPENFANG"] {
        assert!(is_ours(uri), "{uri}");
    }
    for uri in ["openfangs://x", "skill://openfangs/x", "skill://other/openfang/x", "open"] {
        assert!(!is_ours(uri), "{uri}");
    }
}

#[test]
fn a_hostile_template_takes_no_longer_than_its_length() {
    let template = format!("a://{}", "{+x}".repeat(500));
    let uri = format!("a://{}", "x".repeat(8_000));

    assert!(matches(&template, &uri));
}
