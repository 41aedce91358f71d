//! Lines and tails of stderr, however the bytes come.

use std::sync::Arc;

use super::*;

const SECRET: &[u8] = b"sk-0123456789-abcdef";

/// What is heard and kept when text comes in chunks of a size.
fn heard(text: &[u8], chunk: usize, secrets: &[&[u8]]) -> (Vec<String>, String) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    let on_line: LineCallback = Arc::new(move |line| seen.lock().unwrap().push(line.to_owned()));
    let stderr = Stderr::new(secrets.iter().map(|secret| secret.to_vec()).collect(), Some(on_line));
    text.chunks(chunk).for_each(|bytes| stderr.push(bytes));
    stderr.end();
    (lines.lock().unwrap().clone(), stderr.tail())
}

#[test]
fn lines_are_the_same_however_they_are_cut() {
    for chunk in 1..12 {
        let (lines, tail) = heard(b"one\ntwo\r\n\nfour", chunk, &[]);

        assert_eq!(lines, ["one", "two", "", "four"]);
        assert_eq!(tail, "one\ntwo\r\n\nfour\n");
    }
}

#[test]
fn a_line_that_is_not_finished_is_in_the_tail() {
    let stderr = Stderr::new(vec![SECRET.to_vec()], None);

    stderr.push(b"done\nPassword: sk-0123456789-abcdef");

    assert_eq!(stderr.tail(), "done\nPassword: [redacted]");
}

#[test]
fn secrets_are_taken_out_wherever_they_lie() {
    let line = CHILD_STDERR_LINE_BYTES;
    for before in [0, 1, line - 25, line - 20, line - 10, line - 1, line, line + 1, 2 * line - 7, 3 * line] {
        for chunk in [1_000, 7, 100_000] {
            let text = [vec![b'.'; before], SECRET.repeat(3), vec![b'.'; before]].concat();

            let (lines, tail) = heard(&text, chunk, &[SECRET, b"0123456789"]);

            let joined = lines.concat();
            assert_eq!(joined, format!("{0}{1}{1}{1}{0}", ".".repeat(before), REDACTED), "{before} {chunk}");
            assert!(lines.iter().all(|piece| piece.len() <= line));
            assert_eq!(tail, joined + "\n");
        }
    }
}

#[test]
fn the_tail_is_the_end_and_bounded() {
    let text = [vec![b'a'; 300_000], b"\n".to_vec(), b"line\n".repeat(10_000), b"last".to_vec()].concat();

    let (lines, tail) = heard(&text, 4_096, &[]);

    assert_eq!(tail.len(), CHILD_STDERR_TAIL_BYTES);
    assert!(tail.ends_with("line\nline\nlast\n"));
    assert!(lines.iter().all(|line| line.len() <= CHILD_STDERR_LINE_BYTES));
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    let (lines, tail) = heard(b"\xff\xfe ok\n", 1, &[]);

    assert_eq!((lines.concat(), tail), ("\u{fffd}\u{fffd} ok".to_owned(), "\u{fffd}\u{fffd} ok\n".to_owned()));
}

#[test]
fn whoever_listens_may_ask_for_the_tail() {
    let stderr = Arc::new_cyclic(|weak: &std::sync::Weak<Stderr>| {
        let weak = weak.clone();
        let ask: LineCallback =
            Arc::new(move |line| assert!(weak.upgrade().unwrap().tail().ends_with(&format!("{line}\n"))));
        Stderr::new(Vec::new(), Some(ask))
    });

    stderr.push(b"one\ntwo\n");
}
