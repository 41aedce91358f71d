//! What a glob covers.

use super::*;

fn covers(glob: &str, tool: &str) -> bool {
    glob.parse::<Glob>().unwrap().fits_name_of_any_server(&tool.parse().unwrap())
}

#[test]
fn a_glob_covers_what_its_stars_can_stand_for() {
    let yes = [
        ("*", "a"),
        ("file_*", "file_read"),
        ("file_*", "file_"),
        ("*_read", "file_read"),
        ("mcp_*_get", "mcp_a_b_get"),
        ("a*b*c", "aXbYbZc"),
        ("add_numbers", "add_numbers"),
        ("**", "x"),
    ];
    for (glob, tool) in yes {
        assert!(covers(glob, tool), "{glob} should cover {tool}");
    }
}

#[test]
fn a_glob_covers_nothing_else() {
    let no = [
        ("file_*", "afile_read"),
        ("file_*", "File_read"),
        ("file_read", "file_read_all"),
        ("*_read", "file_reader"),
        ("a*b*c", "acb"),
        ("a.b", "axb"),
    ];
    for (glob, tool) in no {
        assert!(!covers(glob, tool), "{glob} should not cover {tool}");
    }
}

#[test]
fn a_glob_full_of_stars_ends_quickly_on_a_near_miss() {
    let glob = "a*".repeat(60);
    let tool = "a".repeat(127) + "b";

    assert!(covers(&glob, &tool));
    assert!(!covers(&format!("{glob}c"), &tool));
}

#[test]
fn what_no_tool_name_can_hold_is_no_glob() {
    for bad in ["", "server:", "server:a b", "server:*", "other:x", "a b", "a/b", "[ab]", "a?b", "ä*"] {
        assert!(bad.parse::<Glob>().is_err(), "{bad}");
    }
}
