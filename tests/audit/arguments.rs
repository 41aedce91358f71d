//! Rows of calls name their arguments: by a digest always, as text only if the operator wants it and nothing looks secret.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::support::binary::{Openfang, Ran};

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// Calls a tool with these arguments, byte for byte, and returns what its last row says of them.
fn recorded(openfang: &Openfang, tool: &str, arguments: &str) -> Value {
    openfang.run(&["tool", "call", tool, "--args", arguments]);
    let row = ok(openfang.run(&["audit", "tail", "-n", "1", "--json"])).json();
    assert_eq!(row["row"]["subject"]["tool"], tool, "{row}");
    row["row"]["subject"]["arguments"].clone()
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_row_has_the_digest_of_the_arguments_and_their_text_only_on_request() {
    let openfang = Openfang::new();
    let sum = r#"{"a":3,"b":7}"#;

    let plain = recorded(&openfang, "add_numbers", sum);
    let refused = recorded(&openfang, "add_numbers", r#"{"a":"x","b":7}"#);

    assert_eq!(plain, serde_json::json!({ "sha256": digest(sum) }));
    assert_eq!(refused, serde_json::json!({ "sha256": digest(r#"{"a":"x","b":7}"#) }));
    let n = ok(openfang.run(&["audit", "tail", "-n", "2", "--json"]));
    let first: Value = serde_json::from_str(n.stdout.lines().next().unwrap()).unwrap();
    let shown = ok(openfang.run(&["audit", "show", &first["n"].to_string()])).stdout;
    assert!(shown.contains(&format!("sha256 {}", digest(sum))), "{shown}");

    openfang.write("config.toml", "[audit]\narguments = true\n");
    let greeting = r#"{"name":"Ada \"the first\""}"#;
    assert_eq!(recorded(&openfang, "get_greeting", greeting)["text"], greeting);
    let token = format!(r#"{{"name":"ghp_{}"}}"#, "a1".repeat(18));
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(9_000));
    for arguments in [token, long] {
        let row = recorded(&openfang, "get_greeting", &arguments);
        assert_eq!(row, serde_json::json!({ "sha256": digest(&arguments) }));
    }
    ok(openfang.run(&["audit", "verify"]));
}

#[tokio::test]
async fn metrics_name_the_tool_whose_arguments_do_not_fit_and_no_tool_that_there_is_not() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    openfang.run(&["tool", "call", "add_numbers", "--args", r#"{"a":"x"}"#]);
    openfang.run(&["tool", "call", "made_up_by_somebody", "--args", "{}"]);

    let metrics = daemon.client().get("/metrics").await.body;

    let counted = |words: [&str; 2]| {
        metrics
            .lines()
            .any(|line| line.starts_with("openfang_tool_calls") && words.iter().all(|word| line.contains(word)))
    };
    assert!(counted(["tool=\"add_numbers\"", "invalid_arguments"]), "{metrics}");
    assert!(!metrics.contains("made_up_by_somebody"), "{metrics}");
}
