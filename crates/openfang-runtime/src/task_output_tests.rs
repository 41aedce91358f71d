//! What a task says and asks, as content blocks and questions.

use openfang_types::limits::SIGN_IN_URL_MAX_CHARS;
use openfang_types::task::{Artifact, Role, TaskStatus};

use super::*;

fn task(state: TaskState, artifacts: Vec<Vec<Part>>, said: Vec<Part>) -> Task {
    let message = Message::of_parts("m".parse().unwrap(), Role::Agent, said);
    let artifact =
        |(number, parts): (usize, Vec<Part>)| Artifact::of_parts(format!("a{number}").parse().unwrap(), None, parts);
    Task {
        id: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        context_id: "c".parse().unwrap(),
        agent: "research".parse().unwrap(),
        status: TaskStatus { state, message: Some(message), timestamp: jiff::Timestamp::UNIX_EPOCH },
        history: Vec::new(),
        artifacts: artifacts.into_iter().enumerate().map(artifact).collect(),
        transitions: Vec::new(),
    }
}

fn file(bytes: usize, media_type: &str) -> Part {
    Part::file(vec![7; bytes], None, Some(media_type.to_owned()))
}

#[test]
fn texts_images_sounds_files_and_links_become_blocks() {
    let link = Part::new(PartBody::Url("https://x.example/paper.pdf".to_owned()));
    let done = task(
        TaskState::Completed,
        vec![
            vec![Part::text("one "), Part::text("text")],
            vec![file(1, "image/png"), file(1, "audio/wav"), file(1, "application/pdf"), link],
            vec![file(TASK_INLINE_BYTES + 1, "application/pdf")],
        ],
        vec![Part::data(json!({ "n": 1 }))],
    );

    let said = serde_json::to_value(blocks(&done)).unwrap();

    let uri = |n: usize| format!("openfang://tasks/{}/artifacts/{n}", done.id);
    assert_eq!(said[0], json!({ "type": "text", "text": "one text" }));
    assert_eq!(said[1], json!({ "type": "image", "data": "Bw==", "mimeType": "image/png" }));
    assert_eq!(said[2], json!({ "type": "audio", "data": "Bw==", "mimeType": "audio/wav" }));
    let resource = json!({ "uri": uri(1), "mimeType": "application/pdf", "blob": "Bw==" });
    assert_eq!(said[3], json!({ "type": "resource", "resource": resource }));
    assert_eq!((&said[4]["type"], &said[4]["uri"]), (&json!("resource_link"), &json!("https://x.example/paper.pdf")));
    assert_eq!((&said[5]["type"], &said[5]["uri"]), (&json!("resource_link"), &json!(uri(2))));
    assert_eq!(said[6], json!({ "type": "text", "text": "{\"n\":1}" }));
    assert_eq!(only_data(&done), Some(&json!({ "n": 1 })));
}

#[test]
fn a_question_says_who_asks_and_a_credential_is_never_asked_for_in_a_form() {
    let asking = task(TaskState::InputRequired, Vec::new(), vec![Part::text("Which city?")]);
    let (key, request) = question(&asking, Some("The A2A agent research"), 100).unwrap();
    let params: Value = serde_json::from_str(request.params.get()).unwrap();
    assert_eq!(key, "reply");
    assert_eq!(params["message"], "The A2A agent research asks: Which city?");

    let login = task(TaskState::AuthRequired, Vec::new(), vec![Part::text("Type your password")]);
    assert!(question(&login, Some("The A2A agent research"), 100).is_none());
}

#[test]
fn a_page_to_sign_in_is_shown_with_its_host_and_only_if_it_cannot_be_mistaken() {
    let said = |text: &str| vec![Part::text(text)];
    let link = |url: &str| vec![Part::text("Sign in"), Part::new(PartBody::Url(url.to_owned()))];
    let form = |url: &str| {
        let mut data = Part::data(json!({ "mode": "url", "message": "Sign in", "url": url }));
        data.media_type = Some(questions::MEDIA_TYPE.to_owned());
        vec![data]
    };
    let rows = [
        (said("Log in at https://x.example/login?a=1."), Some("https://x.example/login?a=1")),
        (said("(see <https://x.example:8443/a>)"), Some("https://x.example:8443/a")),
        (link("https://x.example/b"), Some("https://x.example/b")),
        (form("https://x.example/c"), Some("https://x.example/c")),
        (said("Log in at http://x.example/"), None),
        (link("javascript:alert(1)"), None),
        (form("javascript:alert(1)"), None),
        (form("file:///etc/passwd"), None),
        (link("https://bank.example@evil.example/"), None),
        (link("https://b\u{430}nk.example/"), None),
        (link("https://x.example:80a/"), None),
        (link("https:///nowhere"), None),
        (link(&format!("https://x.example/{}", "a".repeat(SIGN_IN_URL_MAX_CHARS))), None),
    ];
    for (parts, shown) in rows {
        let login = task(TaskState::AuthRequired, Vec::new(), parts);
        let asked = question(&login, Some("The A2A agent research"), 100);
        let params = asked.map(|(_, request)| {
            assert_eq!(request.needs, Capability::ElicitationUrl);
            serde_json::from_str::<Value>(request.params.get()).unwrap()
        });
        assert_eq!(params.as_ref().and_then(|params| params["url"].as_str()), shown, "{login:?}");
        let message = params
            .and_then(|params| params["message"].as_str().map(str::to_owned))
            .unwrap_or_default();
        assert!(shown.is_none() || message.contains("The A2A agent research asks"), "{message}");
    }
}

#[test]
fn answers_are_read_for_the_task_that_asked() {
    let id = "00000000-0000-0000-0000-000000000001".parse::<TaskId>().unwrap();
    let resumed = |key: &str, answer: Value| Resumed {
        answers: BTreeMap::from([(key.to_owned(), raw(&answer))]),
        state: id.as_uuid().as_bytes().to_vec(),
    };

    let said = reply(Some(&resumed("reply", json!({ "action": "accept", "content": { "reply": "Rome" } }))));
    assert!(matches!(said, Some(TaskReply::Said(task, part)) if task == id && part.as_text() == Some("Rome")));
    for (content, expected) in [(json!({ "answer": "Rome" }), true), (json!({ "a": "Rome", "b": "Bern" }), false)] {
        let named_otherwise = reply(Some(&resumed("reply", json!({ "action": "accept", "content": content }))));
        assert_eq!(matches!(named_otherwise, Some(TaskReply::Said(..))), expected, "{content}");
    }
    let declined = reply(Some(&resumed("reply", json!({ "action": "decline" }))));
    assert!(matches!(declined, Some(TaskReply::Declined(task)) if task == id));
    let nonsense = reply(Some(&resumed("reply", json!(7))));
    assert!(matches!(nonsense, Some(TaskReply::Unreadable(_))));
    for (action, expected) in [("accept", "waits on"), ("decline", "declined"), ("cancel", "declined"), ("x", "odd")] {
        let answered = match reply(Some(&resumed("sign-in", json!({ "action": action })))) {
            Some(TaskReply::SigningIn(task)) if task == id => "waits on",
            Some(TaskReply::Declined(_)) => "declined",
            _ => "odd",
        };
        assert_eq!(answered, expected, "{action}");
    }
    assert!(reply(None).is_none());
}
