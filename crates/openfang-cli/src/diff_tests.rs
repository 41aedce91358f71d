//! Diffs as people read them.

use super::*;

fn shown(before: &str, after: &str) -> String {
    let line = |line: &DiffLine<'_>| match line {
        DiffLine::Same(text) => format!(" {text}"),
        DiffLine::Removed(text) => format!("-{text}"),
        DiffLine::Added(text) => format!("+{text}"),
        DiffLine::Gap => "...".to_owned(),
    };
    diff(before, after).iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_change_is_shown_with_three_lines_around_it() {
    let before = "1\n2\n3\n4\n5\n6\n7\n8\n9";

    assert_eq!(shown(before, before), "");
    assert_eq!(shown(before, "1\n2\n3\n4\nfive\n6\n7\n8\n9"), "...\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n...");
    assert_eq!(shown("", "a\nb"), "+a\n+b");
    assert_eq!(shown("a", ""), "-a");
}

#[test]
fn two_changes_far_apart_leave_out_what_lies_between() {
    let before = "a\n1\n2\n3\n4\n5\n6\n7\n8\nb";

    assert_eq!(shown(before, "A\n1\n2\n3\n4\n5\n6\n7\n8\nB"), "-a\n+A\n 1\n 2\n 3\n...\n 6\n 7\n 8\n-b\n+B");
}

#[test]
fn texts_that_are_too_long_to_compare_are_shown_as_one_block() {
    let lines = |word: &str| (0..COMPARED_LINES + 1).map(|n| format!("{word}{n}")).collect::<Vec<_>>().join("\n");
    let (before, after) = (lines("a"), lines("b"));

    let shown = diff(&before, &after);

    assert_eq!(shown.len(), 2 * (COMPARED_LINES + 1));
}
