//! Rules about comments, and about tests that are switched off. They read the split lines, so what stands in a
//! string literal is nobody's comment.

use super::Violation;
use super::source::{Line, is_word, words};

const RULE_COMMENTS: &str = "comments";
const RULE_TESTS: &str = "tests";

const NOTES: &[&str] = &["TODO", "FIXME", "XXX"];
const RULER: &[char] = &['-', '=', '*', '~', '_', '─', '═', '━'];
/// These open headings and lists in prose: only a comment made of nothing else is a ruler.
const RULER_ALONE: &[char] = &['#', '/', '+', '.'];
const RULER_LENGTH: usize = 4;

/// No line of dashes; a file that seems to need sections is two files.
pub(crate) fn rulers(path: &str, lines: &[Line]) -> Vec<Violation> {
    flag(lines, path, RULE_COMMENTS, |line| {
        is_ruler(&line.comment).then_some("a ruler: let the code's order speak, or split the file")
    })
}

/// A note for later without an issue is forgotten.
pub(crate) fn notes_without_issue(path: &str, lines: &[Line]) -> Vec<Violation> {
    flag(lines, path, RULE_COMMENTS, |line| {
        has_loose_note(&line.comment).then_some("a note without an issue: write it as (#number)")
    })
}

/// Old code lives in the history.
pub(crate) fn commented_out_code(path: &str, lines: &[Line]) -> Vec<Violation> {
    flag(lines, path, RULE_COMMENTS, |line| {
        is_code(&line.comment).then_some("commented-out code: delete it, the history keeps it")
    })
}

/// A test that does not run says nothing.
pub(crate) fn ignored_tests(path: &str, lines: &[Line]) -> Vec<Violation> {
    flag(lines, path, RULE_TESTS, |line| is_ignored(&line.code).then_some("an ignored test: fix it or delete it"))
}

fn flag(
    lines: &[Line],
    path: &str,
    rule: &'static str,
    judge: impl Fn(&Line) -> Option<&'static str>,
) -> Vec<Violation> {
    let judged = lines.iter().enumerate().filter_map(|(index, line)| Some((index, judge(line)?)));
    judged.map(|(index, reason)| Violation::new(path, index + 1, rule, reason)).collect()
}

fn is_ruler(comment: &str) -> bool {
    if comment.starts_with("////") {
        return true;
    }
    let content = content(comment);
    let Some(first) = content.chars().next() else { return false };
    let run = content.chars().take_while(|char| *char == first).count();
    let alone = run == content.chars().count();
    run >= RULER_LENGTH && (RULER.contains(&first) || (alone && RULER_ALONE.contains(&first)))
}

fn has_loose_note(comment: &str) -> bool {
    NOTES.iter().any(|note| {
        let mut found = comment.match_indices(note);
        found.any(|(start, _)| {
            let (before, after) = (&comment[..start], &comment[start + note.len()..]);
            let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
            whole && !names_an_issue(after)
        })
    })
}

/// `(#12)` right behind the note.
fn names_an_issue(after: &str) -> bool {
    let number = after.strip_prefix("(#").and_then(|rest| rest.split_once(')')).map(|(number, _)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Cautious on purpose: what a sentence could look like is let through. Doc comments may hold examples.
fn is_code(comment: &str) -> bool {
    if !comment.starts_with("//") || comment.starts_with("///") || comment.starts_with("//!") {
        return false;
    }
    let text = content(comment);
    match text.chars().last() {
        Some(';') => is_statement(text.trim_end_matches(';').trim_end()),
        Some('{') => opens_block(text),
        Some('}') => matches!(text, "}") || text.starts_with("} "),
        Some(')' | ',') => matches!(text, "})" | "})," | "},"),
        _ => false,
    }
}

fn is_statement(text: &str) -> bool {
    let first = words(text).next().unwrap_or_default();
    match first {
        _ if text.chars().all(|char| "})]?".contains(char)) => true,
        "let" | "const" | "static" => text.contains(" = "),
        "use" | "pub" | "mod" | "extern" => text.contains("::") || words(text).count() == 2 && first == "mod",
        "return" | "break" | "continue" if text == first => true,
        _ => is_call(text) || is_assignment(text),
    }
}

/// `a.b(c)?`: a path that is called at once. "As close(2) does" has a space before the call.
fn is_call(text: &str) -> bool {
    let body = text.trim_end_matches('?').trim_end_matches(".await");
    let Some((callee, _)) = body.split_once('(') else { return false };
    let path = !callee.is_empty() && callee.chars().all(|char| is_word(char) || ".:!?&*".contains(char));
    path && body.ends_with(')')
}

/// `a.b = c`, `a += 1`.
fn is_assignment(text: &str) -> bool {
    let mut parts = text.split(' ');
    let (target, operator) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let assigns = matches!(operator, "=" | "+=" | "-=" | "*=" | "/=" | "|=" | "&=" | "^=");
    assigns && parts.next().is_some() && target.chars().all(|char| is_word(char) || "._[]*".contains(char))
}

fn opens_block(text: &str) -> bool {
    let first = words(text).find(|word| !matches!(*word, "pub" | "crate" | "async" | "unsafe" | "const"));
    let opener = matches!(
        first,
        Some("fn" | "impl" | "struct" | "enum" | "trait" | "mod" | "match" | "if" | "for" | "while" | "loop")
    );
    text == "{" || opener || text.ends_with("=> {") || text.starts_with("} else") || text.ends_with("| {")
}

fn is_ignored(code: &str) -> bool {
    let squeezed: String = code.split_whitespace().collect();
    squeezed.contains("#[ignore") || squeezed.starts_with("#[cfg_attr(") && squeezed.contains(",ignore")
}

/// A comment without its marker.
fn content(comment: &str) -> &str {
    let markers = ["///", "//!", "//", "/**", "/*!", "/*"];
    let marker = markers
        .iter()
        .find(|marker| comment.starts_with(**marker))
        .map_or(0, |marker| marker.len());
    comment[marker..].trim_end_matches("*/").trim()
}

#[cfg(test)]
#[path = "comments_tests.rs"]
mod tests;
