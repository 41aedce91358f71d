//! The wire trace: what is shown, and what never is.

use std::sync::Mutex;

use super::*;

fn shown(trace: impl Fn(&WireTracer)) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let tracer = WireTracer::to(move |line| kept.lock().unwrap().push(line.to_owned()));
    trace(&tracer.hiding(&Secret::new("s3cret".to_owned())));
    std::mem::take(&mut *lines.lock().unwrap())
}

#[test]
fn a_request_is_shown_without_its_token() {
    let request = Request::post("/api/tools/x?a=s3cret")
        .header("authorization", "Bearer s3cret")
        .body(Bytes::from_static(b"{\"arguments\":\"s3cret\"}"))
        .unwrap();

    let lines = shown(|tracer| tracer.request(&request));

    let expected =
        ["> POST /api/tools/x?a=[redacted]", "> authorization: Bearer [redacted]", "> {\"arguments\":\"[redacted]\"}"];
    assert_eq!(lines, expected);
}

#[test]
fn a_body_that_holds_secrets_is_not_shown() {
    let request = Request::post("/x").body(Bytes::from_static(b"{\"env\":[\"A=hunter2\"]}")).unwrap();

    let lines = shown(|tracer| tracer.clone().showing_instead("{\"env\":[\"A=?\"]}".to_owned()).request(&request));

    assert_eq!(lines, ["> POST /x", "> {\"env\":[\"A=?\"]}"]);
}

#[test]
fn an_answer_is_shown_with_its_status_and_cut_at_the_limit() {
    let lines = shown(|tracer| {
        tracer.status(StatusCode::NOT_FOUND);
        tracer.answer("ä".repeat(2_000).as_bytes());
        tracer.answer(b"");
    });

    assert_eq!(lines[0], "< 404 Not Found");
    assert_eq!(lines[1], format!("< {}... (4000 bytes)", "ä".repeat(1_024)));
    assert_eq!(lines.len(), 2);
}

#[test]
fn no_part_of_a_token_is_shown_wherever_the_cut_falls() {
    for before in WIRE_TRACE_MAX_BYTES - 10..WIRE_TRACE_MAX_BYTES + 20 {
        let body = format!("s3cret{}s3cret", ".".repeat(before));

        let lines = shown(|tracer| tracer.answer(body.as_bytes()));

        assert!(!lines[0].contains("s3"), "{before}");
    }
}

#[test]
fn an_answer_that_is_a_secret_is_not_shown() {
    let lines = shown(|tracer| tracer.clone().hiding_answers().answer(b"{\"key\":\"canary\"}"));

    assert_eq!(lines, ["< [redacted]"]);
}

#[test]
fn an_event_is_shown_with_its_name_and_data() {
    let event = Event { name: "status".to_owned(), id: None, data: "{}".to_owned() };

    assert_eq!(shown(|tracer| tracer.event(&event)), ["< event: status", "< {}"]);
}
