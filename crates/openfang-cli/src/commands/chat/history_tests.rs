//! The history is kept whole, and for its owner only.

use super::*;

fn history() -> (tempfile::TempDir, ChatHistory) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().to_owned());
    assert!(ChatHistory::of(&home).is_none(), "there is no home yet");
    std::fs::create_dir(directory.path().join("data")).unwrap();
    let history = ChatHistory::of(&home).unwrap();
    (directory, history)
}

#[test]
fn lines_come_back_in_order_with_their_line_breaks_and_only_the_owner_reads_them() {
    let (_directory, history) = history();

    for line in ["first", "two\nlines \u{1f980}", "\u{1b}[2J"] {
        history.add(line);
    }

    assert_eq!(history.load(), ["first", "two\nlines \u{1f980}", "\u{1b}[2J"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!(std::fs::metadata(&history.path).unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_long_history_is_cut_and_damage_costs_one_line() {
    let (_directory, history) = history();
    let mut text: String = (0..CHAT_HISTORY_LINES + 10).map(|n| entry(&n.to_string())).collect();
    text.push_str("not json\n");
    std::fs::write(&history.path, text).unwrap();
    history.add("last");
    history.add(&"x".repeat(CHAT_HISTORY_LINE_BYTES + 1));

    let lines = history.load();

    assert_eq!((lines.len(), lines.last().unwrap().as_str()), (CHAT_HISTORY_LINES, "last"));
    assert_eq!(history.read().unwrap().len(), CHAT_HISTORY_LINES, "the file was cut too");
}
