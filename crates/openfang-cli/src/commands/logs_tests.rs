//! Which lines are shown, and how.

use super::*;

const LINE: &str = r#"{"timestamp":"2026-01-02T03:04:05.678Z","level":"WARN","fields":{"message":"lost","server":"files","n":2},"span":{"trace":"t1"}}"#;

fn args(level: Option<&str>, trace: Option<&str>, server: Option<&str>) -> LogsArgs {
    let text = |word: Option<&str>| word.map(str::to_owned);
    LogsArgs { lines: 10, follow: false, level: text(level), trace: text(trace), server: text(server) }
}

#[test]
fn a_line_is_wanted_by_level_trace_and_server() {
    let rows = [
        (args(None, None, None), true),
        (args(Some("warn"), None, None), true),
        (args(Some("error"), None, None), false),
        (args(None, Some("t1"), Some("files")), true),
        (args(None, Some("t2"), None), false),
        (args(None, None, Some("other")), false),
    ];
    for (args, expected) in rows {
        assert_eq!(is_wanted(LINE, &args), expected, "{args:?}");
    }
}

#[test]
fn a_line_reads_as_time_level_message_and_fields() {
    let value = serde_json::from_str(LINE).unwrap();

    assert_eq!(text_of(&value), "2026-01-02T03:04:05  WARN   lost n=2 server=files");
}
