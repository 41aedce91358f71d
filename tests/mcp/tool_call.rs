//! `openfang tool call` of the reference server: progress on standard error, questions on the terminal, Ctrl-C.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use super::relay::{ASKS, LONG, both, everything};
use crate::chat::fixture::Terminal;

#[test]
fn progress_is_shown_on_standard_error_and_not_where_it_is_not_wanted() {
    both(|openfang| {
        let call = ["tool", "call", LONG, "--args", r#"{"duration": 0.3, "steps": 3}"#];

        let ran = openfang.run(&call);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("completed"), "{ran:?}");
        let progress: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(" of 3")).collect();
        assert_eq!(progress, ["1 of 3", "2 of 3", "3 of 3"], "{ran:?}");

        for silent in ["--json", "--quiet"] {
            let ran = openfang.run(&[&call[..], &[silent]].concat());
            assert_eq!((ran.code, ran.stderr.contains(" of 3")), (0, false), "{ran:?}");
        }
    });
}

#[test]
fn without_a_terminal_a_question_is_refused_with_what_was_asked() {
    both(|openfang| {
        let ran = openfang.run(&["tool", "call", ASKS, "--args", "{}"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("Please provide inputs") && ran.stderr.contains("name"), "{ran:?}");
        assert!(ran.stderr.contains("run it in a terminal"), "{ran:?}");

        let ran = openfang.run(&["tool", "call", ASKS, "--args", "{}", "--json"]);
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(error["error"]["code"], "nobody_to_ask", "{ran:?}");
    });
}

#[test]
fn a_question_is_asked_on_the_terminal_and_the_call_goes_on_with_the_answer() {
    both(|openfang| {
        let mut child = openfang.on_terminal(&format!("tool call {ASKS}"));
        let (mut typed, mut shown) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (mut screen, mut line) = (String::new(), String::new());
        let mut byte = [0];
        while shown.read(&mut byte).unwrap() == 1 {
            let character = char::from(byte[0]);
            screen.push(character);
            if matches!(character, '\n' | '\r') {
                line.clear();
                continue;
            }
            line.push(character);
            // A field waits for its line.
            if line.ends_with("): ") {
                let answer = if line.starts_with("name") { "Ada\n" } else { "\n" };
                typed.write_all(answer.as_bytes()).unwrap();
                line.clear();
            }
        }
        assert!(child.wait().unwrap().success(), "{screen}");
        assert!(screen.contains("asks: Please provide inputs"), "{screen}");
        assert!(screen.contains("- Name: Ada") || screen.matches("Ada").count() > 1, "{screen}");
    });
}

#[test]
fn a_chat_asks_the_question_as_a_form_and_the_task_goes_on_with_the_answer() {
    let openfang = everything();
    let agent =
        "name = \"asker\"\ndescription = \"asks\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"*\"]\n";
    openfang.write("agents/asker/agent.toml", agent);
    let mut chat = Terminal::open(&openfang, "asker");
    chat.wait_for("asker> ");
    chat.press(&format!("/{ASKS} {{}}\r"));

    chat.wait_for("asks: Please provide inputs");
    // A field waits for its line; only the name is required.
    loop {
        match chat.wait_for_one_of(&["legal name (string): ", "): ", "asker> "]) {
            0 => chat.press("Ada\r"),
            1 => chat.press("\r"),
            _ => break,
        }
    }
    chat.press("\x04");
    let (code, shown) = chat.left();
    assert!(code == 0 && shown.contains("- Name: Ada"), "{shown}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "kill is the plainest way to send a signal")]
fn ctrl_c_cancels_the_call() {
    let openfang = everything();
    for has_daemon in [false, true] {
        let _daemon = has_daemon.then(|| openfang.start());
        let mut child = openfang.spawn(&["tool", "call", LONG, "--args", r#"{"duration": 600, "steps": 6000}"#]);
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        errors.find(|line| line.as_ref().unwrap().contains(" of 6000")).unwrap().unwrap();

        let sent = std::process::Command::new("kill")
            .arg("-INT")
            .arg(child.id().to_string())
            .status()
            .unwrap();
        assert!(sent.success());

        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(errors.any(|line| line.unwrap().contains("was canceled")));
    }
}
