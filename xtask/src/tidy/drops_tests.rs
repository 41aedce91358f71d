//! Work that begins when a value goes away is found, and what gives back is not.

use super::super::source;
use super::*;

fn found(path: &str, body: &str) -> usize {
    let text = format!("impl<T> Drop for Guard<T> {{\n    fn drop(&mut self) {{\n        {body}\n    }}\n}}\n");
    work(path, &source::lines(&text)).len()
}

#[test]
fn a_value_that_goes_away_begins_nothing() {
    for body in ["self.tracker.spawn(end(self.id));", "std::fs::write(&self.path, b\"\");", "runtime.block_on(x);"] {
        assert_eq!(found("crates/a/src/guard.rs", body), 1, "{body}");
    }
}

#[test]
fn giving_back_is_no_work() {
    for body in ["self.count.fetch_sub(1, Relaxed);", "self.stop.cancel();", "// spawn( is a word here"] {
        assert_eq!(found("crates/a/src/guard.rs", body), 0, "{body}");
    }
}

#[test]
fn other_code_and_tests_are_free() {
    let other = "impl Guard {\n    fn end(self) {\n        self.tracker.spawn(x);\n    }\n}\n";
    assert_eq!(work("crates/a/src/guard.rs", &source::lines(other)), []);
    assert_eq!(found("crates/a/src/guard_tests.rs", "tokio::spawn(x);"), 0);
}
