//! Which paths are taken apart, and which are refused before anything is opened.

use super::{MAX_DEPTH, PathFault, RelPath};

#[test]
fn ordinary_paths_are_split_into_their_names() {
    let rows: [(&str, &[&str]); 12] = [
        ("notes.txt", &["notes.txt"]),
        ("./src//main.rs", &["src", "main.rs"]),
        ("src/", &["src"]),
        (".", &[]),
        ("./", &[]),
        (".hidden", &[".hidden"]),
        ("...", &["..."]),
        ("a..b/..c", &["a..b", "..c"]),
        ("backup~", &["backup~"]),
        ("app/routes/$id.tsx", &["app", "routes", "$id.tsx"]),
        ("100%/50%25 off/%41%zz%", &["100%", "50%25 off", "%41%zz%"]),
        ("Grüße/日本", &["Grüße", "日本"]),
    ];
    for (text, names) in rows {
        assert_eq!(RelPath::parse(text).unwrap().names(), names, "{text}");
    }
}

#[test]
fn a_trailing_slash_or_dot_means_a_directory() {
    for (text, expected) in [(".", true), ("a/", true), ("a/.", true), ("./", true), ("a", false), ("a.", false)] {
        assert_eq!(RelPath::parse(text).unwrap().means_directory(), expected, "{text}");
    }
}

#[test]
fn limits_are_exact() {
    let name = |length: usize| "n".repeat(length);
    let deep = |levels: usize| vec!["d"; levels].join("/");
    let long = |length: usize| format!("{}{}", "./".repeat(length / 2 - 1), name(length % 2 + 2));

    assert!(RelPath::parse(&name(255)).is_ok());
    assert_eq!(RelPath::parse(&name(256)), Err(PathFault::NameTooLong));
    assert_eq!(RelPath::parse(&"é".repeat(128)), Err(PathFault::NameTooLong));
    assert!(RelPath::parse(&deep(MAX_DEPTH)).is_ok());
    assert_eq!(RelPath::parse(&deep(MAX_DEPTH + 1)), Err(PathFault::TooDeep));
    assert!(RelPath::parse(&long(4096)).is_ok());
    assert_eq!(RelPath::parse(&long(4097)), Err(PathFault::TooLong));
}

#[test]
fn encoded_separators_are_found_however_deep_they_hide() {
    for hidden in ["%2e", "%2E", "a%2fb", "%5c", "%00", "%252e", "%25252F", "%%32%65", "%2%65", "%c0%ae", "%C1%9c"] {
        assert_eq!(RelPath::parse(hidden), Err(PathFault::Encoded), "{hidden}");
    }
    let nested = format!("%{}41", "25".repeat(8));
    assert_eq!(RelPath::parse(&nested), Err(PathFault::Encoded), "encoded too often to be honest");
    for plain in ["%", "%%", "%2", "%2g", "%20", "%2520", "e%2", "2e%"] {
        assert!(RelPath::parse(plain).is_ok(), "{plain}");
    }
}

#[test]
fn every_fault_is_a_lower_case_clause() {
    for text in ["", "/", "~", "$X", "a\\b", "%2e", "..", "\0", "\n"] {
        let clause = RelPath::parse(text).unwrap_err().to_string();
        assert!(clause.starts_with("it ") && !clause.ends_with('.'), "{clause}");
    }
}
