//! Whatever somebody else says stays on its line of the log.

use std::sync::{Arc, Mutex};

use super::*;

/// All that a terminal would obey, what nobody sees, and a forged line.
const EVIL: &str = "a\u{1b}[2J\u{9b}1A\u{202e}b\u{200b}c\u{7f}\r\n2026-01-01T00:00:00Z  INFO openfang: all is well";
const RAW: [char; 7] = ['\u{1b}', '\u{9b}', '\u{202e}', '\u{200b}', '\u{7f}', '\r', '\n'];

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn logged(subscriber: impl Subscriber + Send + Sync + 'static, log: &Log) -> Vec<String> {
    tracing::subscriber::with_default(subscriber, || {
        let span = tracing::warn_span!(target: "openfang", "call", tool = %EVIL, late = tracing::field::Empty);
        span.record("late", tracing::field::display(EVIL));
        let _inside = span.enter();
        let error = io::Error::other(EVIL);
        tracing::warn!(target: "openfang", %error, plain = EVIL, shown = ?EVIL, "it says {EVIL}");
        tracing::warn!(target: "openfang", error = &error as &dyn std::error::Error, "two");
    });
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_stranger_forges_no_line_of_the_log_and_hides_nothing_in_it() {
    let log = Log::default();
    let writer = log.clone();
    let lines = logged(text(LogLevel::Info, false, move || writer.clone()).0, &log);

    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains(RAW)), "{lines:#?}");
    let shown = r"a\u{1b}[2J\u{9b}1A\u{202e}b\u{200b}c\u{7f}\r\n2026";
    assert!(lines[0].contains(&format!("it says {shown}")), "{lines:#?}");
    assert!(lines[0].contains(&format!("error={shown}")), "{lines:#?}");
    assert!(lines[0].contains(&format!("tool={shown}")), "{lines:#?}");
}

#[test]
fn with_colours_only_the_colours_are_ours() {
    let log = Log::default();
    let writer = log.clone();
    let lines = logged(text(LogLevel::Info, true, move || writer.clone()).0, &log);

    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains("\u{1b}[2J") && !line.contains(&RAW[1..])), "{lines:#?}");
    assert!(lines[0].contains("\u{1b}[3merror"), "{lines:#?}");
}

#[test]
fn a_line_of_json_means_what_was_said_and_is_escaped_too() {
    let log = Log::default();
    let writer = log.clone();
    let lines = logged(json(LogLevel::Info, move || writer.clone()).0, &log);

    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains(RAW)), "{lines:#?}");
    let line: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(line["fields"]["error"], EVIL);
}
