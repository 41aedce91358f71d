//! Which scripts can be read.

use super::*;

#[test]
fn every_kind_of_step_can_be_written() {
    let script = parse(
        r#"
        [[rules]]
        when = { message_id = "tck-", text = "go", part = "data", turn = 1 }
        steps = [
            { chunk = "Hel" },
            { chunk = "lo" },
            { artifact = { id = "a", name = "n", text = "t", append = true, last = true } },
            { artifact = { file = { base64 = "AQI=", filename = "x.bin", media_type = "application/x" } } },
            { artifact = { file = { url = "https://example.org/x" } } },
            { artifact = { data = { deep = [1, { a = true }] } } },
            { status = { state = "working", message = "thinking" } },
            { tool = { name = "add_numbers", arguments = { a = 1, b = 2 } } },
            { tool = { name = "current_time" } },
            { requested_tool = true },
            { echo = "what you said" },
            { delay_ms = 5 },
            { fail = "out of luck" },
            { wait_for_cancel = true },
            { status = { state = "auth-required" } },
        ]

        [[rules]]
        steps = [{ reply = "no task needed" }]
        "#,
    );

    assert_eq!(script.unwrap().rules.len(), 2);
}

#[test]
fn what_cannot_be_played_is_refused_with_its_place() {
    let rows = [
        ("steps = [{ artifact = { name = \"n\" } }]", "exactly one of text, file and data"),
        ("steps = [{ artifact = { text = \"a\", data = 1 } }]", "exactly one of text, file and data"),
        ("steps = [{ artifact = { file = {} } }]", "exactly one of base64 and url"),
        ("steps = [{ artifact = { file = { base64 = \"%\" } } }]", "base64 is not valid"),
        ("steps = [{ reply = \"a\" }, { chunk = \"b\" }]", "must be the only step"),
        ("steps = [{ delay_ms = 3600001 }]", "at most an hour"),
        ("steps = [{ wait_for_cancel = false }]", "takes true"),
        ("steps = [{ requested_tool = false }]", "takes true"),
        ("when = { part = \"song\" }\nsteps = []", "unknown variant `song`"),
        ("steps = [{ tool = { name = \"t\", arguments = 1 } }]", "must be a table"),
        ("steps = [{ dance = 1 }]", "unknown variant `dance`"),
        ("steps = [{ status = { state = \"happy\" } }]", "unknown variant `happy`"),
        ("when = { colour = 1 }\nsteps = []", "unknown field `colour`"),
    ];
    for (rule, expected) in rows {
        let error = parse(&format!("[[rules]]\n{rule}")).unwrap_err().to_string();
        assert!(error.contains(expected), "{rule}: {error}");
    }
}
