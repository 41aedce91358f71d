//! Names and patterns of skills.

use super::SkillPattern;
use crate::ids::SkillName;

#[test]
fn names_follow_the_standard() {
    for good in ["a", "pdf-forms", "x2", &"a".repeat(64)] {
        good.parse::<SkillName>().unwrap();
    }
    for bad in ["", "-a", "a-", "a--b", "A", "a_b", "a/b", "../a", "a.b", "%2e%2e", "\u{e9}", &"a".repeat(65)] {
        bad.parse::<SkillName>().unwrap_err();
    }
}

#[test]
fn a_pattern_covers_names_and_is_no_path() {
    let covers = |pattern: &str, name: &str| pattern.parse::<SkillPattern>().unwrap().covers(&name.parse().unwrap());
    assert!(covers("*", "pdf-forms") && covers("pdf-*", "pdf-forms") && covers("pdf-forms", "pdf-forms"));
    assert!(!covers("pdf", "pdf-forms") && !covers("*-x", "pdf-forms"));
    for bad in ["", "a/b", "server:a", "A"] {
        bad.parse::<SkillPattern>().unwrap_err();
    }
}
