//! What comes from a server goes to whom it concerns.

use super::*;

fn text(heard: Option<Heard>) -> String {
    match heard {
        Some(Heard::Answer(Ok(raw))) => raw.get().to_owned(),
        Some(Heard::Answer(Err(error))) => error.to_string(),
        Some(Heard::Progress { progress, .. }) => format!("progress {progress}"),
        Some(Heard::Log { data, .. }) => format!("log {data}"),
        Some(Heard::Question(question)) => format!("question {}", question.method),
        None => "nothing".to_owned(),
    }
}

#[test]
fn an_answer_goes_to_the_request_it_names_once_and_to_no_other() {
    let inbox = Inbox::new(&Arc::default(), &Arc::default());
    let (first, one) = inbox.expect(Expected::Answer).unwrap();
    let (_, two) = inbox.expect(Expected::Answer).unwrap();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{first},"result":{{"a":1}}}}"#);
    inbox.take(answer.as_bytes(), None);
    inbox.take(answer.as_bytes(), None);
    inbox.take(br#"{"jsonrpc":"2.0","id":999,"result":{}}"#, None);
    inbox.take(br#"{"jsonrpc":"2.0","id":"1","result":{}}"#, None);
    assert_eq!(text(one.take()), r#"{"a":1}"#);
    assert_eq!(text(one.take()), "nothing");
    assert_eq!(text(two.take()), "nothing");
}

#[test]
fn whoever_waits_when_the_connection_ends_is_told_once() {
    let inbox = Inbox::new(&Arc::default(), &Arc::default());
    let (_, slot) = inbox.expect(Expected::Answer).unwrap();
    inbox.end(&ClientError::Lost("gone".to_owned()));
    assert!(text(slot.take()).contains("gone"));
    assert_eq!(text(slot.take()), "nothing");
    assert!(inbox.expect(Expected::Answer).is_err());
}

#[test]
fn a_question_reaches_only_a_call_that_can_be_asked() {
    let inbox = Inbox::new(&Arc::default(), &Arc::default());
    let question = br#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#;
    let (shared, slot) = inbox.expect(Expected::Answer).unwrap();
    assert!(matches!(inbox.take(question, Some(shared))[0], FrameOutcome::Reply(_)));
    assert!(matches!(inbox.take(question, None)[0], FrameOutcome::Reply(_)));
    assert_eq!(text(slot.take()), "nothing");
    inbox.forget(shared);
    let (_, slot) = inbox.expect(Expected::Questions).unwrap();
    assert!(matches!(inbox.take(question, None)[0], FrameOutcome::Understood));
    assert_eq!(text(slot.take()), "question roots/list");
    let strange = br#"{"jsonrpc":"2.0","id":"q","method":"shell/run"}"#;
    assert!(matches!(inbox.take(strange, None)[0], FrameOutcome::Reply(_)));
}

#[test]
fn log_lines_of_a_shared_pipe_are_nobodys() {
    let inbox = Inbox::new(&Arc::default(), &Arc::default());
    let line = br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    let (id, slot) = inbox.expect(Expected::Answer).unwrap();
    inbox.take(line, None);
    assert_eq!(text(slot.take()), "nothing");
    inbox.take(line, Some(id));
    assert_eq!(text(slot.take()), "log \"x\"");
}

#[test]
fn what_is_no_message_is_noise() {
    let inbox = Inbox::new(&Arc::default(), &Arc::default());
    for noise in [&b"Listening on port 3"[..], b"{}", b"[]", b"\xff\xfe", b"{\"jsonrpc\":\"2.0\"}"] {
        assert!(matches!(inbox.take(noise, None)[0], FrameOutcome::Noise), "{noise:?}");
    }
}

#[test]
fn an_answer_that_could_not_be_kept_is_that_of_the_only_one_who_waits() {
    let inbox = Inbox::new(&Arc::default(), &Arc::default());
    let (_, listening) = inbox.expect(Expected::End).unwrap();
    let (first, one) = inbox.expect(Expected::Answer).unwrap();
    let (second, two) = inbox.expect(Expected::Answer).unwrap();
    inbox.lose_answer(b"{", &ClientError::TooLarge);
    assert_eq!((text(one.take()), text(two.take())), ("nothing".to_owned(), "nothing".to_owned()));

    inbox.forget(second);
    inbox.lose_answer(b"{", &ClientError::TooLarge);

    assert_eq!(text(one.take()), "its answer is larger than 24 MiB");
    assert!(!inbox.waits_for(first));
    assert_eq!(text(listening.take()), "nothing");
}

#[test]
fn an_answer_that_cannot_be_read_fails_its_own_call() {
    let inbox = Inbox::new(&Arc::default(), &Arc::default());
    let (id, slot) = inbox.expect(Expected::Answer).unwrap();
    let deep = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}1{}}}"#, "[".repeat(500), "]".repeat(500));
    inbox.take(format!(r#"DEBUG {{"jsonrpc":"2.0","id":{id},"method":"x"}}"#).as_bytes(), None);
    assert_eq!(text(slot.take()), "nothing");
    inbox.take(deep.as_bytes(), None);
    assert!(text(slot.take()).contains("cannot be read"));

    let (id, slot) = inbox.expect(Expected::Answer).unwrap();
    let broken = [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":""#).as_bytes(), b"\xff\xfe\"}"].concat();
    inbox.take(&broken, None);
    assert!(text(slot.take()).contains("cannot be read"));
}

#[test]
fn an_answer_that_could_not_be_kept_fails_the_call_it_names_among_many() {
    let inbox = Inbox::new(&Arc::default(), &Arc::default());
    let (_, one) = inbox.expect(Expected::Answer).unwrap();
    let (second, two) = inbox.expect(Expected::Answer).unwrap();
    let within = format!(r#"{{"jsonrpc":"2.0","result":{{"id":{second},"text":"xxx"#);
    inbox.lose_answer(within.as_bytes(), &ClientError::TooLarge);
    assert_eq!(text(two.take()), "nothing", "an id within the result is another one");

    inbox.lose_answer(format!(r#"{{"jsonrpc":"2.0","id":{second},"result":"xxx"#).as_bytes(), &ClientError::TooLarge);

    assert_eq!(text(two.take()), "its answer is larger than 24 MiB");
    assert_eq!(text(one.take()), "nothing");
}
