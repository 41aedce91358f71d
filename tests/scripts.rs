//! A script agent does what its file says, to the letter.

use openfang_kernel::{Begin, Follow, Reply};
use openfang_testkit::{TestHome, callers};
use openfang_types::event::EventBody;
use openfang_types::event::{StreamItem, Until};
use openfang_types::task::{Message, Part, PartBody, Role, TaskState};

use crate::support::{assert_state, send, status_text};

#[tokio::test]
async fn the_steps_of_a_rule_become_events_in_order() {
    let script = r#"
        [[rules]]
        steps = [
            { status = { state = "working", message = "thinking" } },
            { chunk = "Hel" },
            { chunk = "lo" },
            { artifact = { id = "a", name = "report", text = "one" } },
            { delay_ms = 1 },
            { artifact = { id = "a", text = "two", append = true, last = true } },
            { artifact = { name = "raw", file = { base64 = "AQI=", filename = "x.bin", media_type = "application/x" } } },
            { artifact = { name = "data", data = { deep = [1] } } },
            { tool = { name = "add_numbers", arguments = { a = 1, b = 2 } } },
            { status = { state = "completed", message = "there you are" } },
            { chunk = "never said" },
        ]
    "#;
    let home = TestHome::new().with_script("player", &["add_numbers"], script);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let task = send(&kernel, &admin, "player", "go").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(status_text(&task), "there you are");
    let shown: Vec<(String, Vec<Part>)> = task
        .artifacts
        .iter()
        .map(|a| (a.name.clone().unwrap_or_default(), a.parts.clone()))
        .collect();
    let texts = |texts: &[&str]| texts.iter().map(|text| Part::text(*text)).collect::<Vec<_>>();
    assert_eq!(shown[0], ("reply".to_owned(), texts(&["Hel", "lo"])));
    assert_eq!(shown[1], ("report".to_owned(), texts(&["one", "two"])));
    assert_eq!(shown[2].1[0].body, PartBody::Raw(vec![1, 2]));
    assert_eq!(shown[3].1[0].as_data().unwrap()["deep"][0], 1);
    assert_eq!(shown[4].0, "add_numbers-result");

    let follow = Follow { begin: Begin::After(0), until: Until::Ended };
    let mut stream = kernel.follow(&admin, task.id, follow).await.unwrap();
    let mut names = Vec::new();
    while let Some(StreamItem::Event(event)) = stream.next().await.unwrap() {
        names.push(match &event.body {
            EventBody::Artifact(update) if update.append => "append",
            body => body.name(),
        });
    }
    let expected = [
        "status", "message", "status", "status", "artifact", "append", "artifact", "append", "artifact", "artifact",
        "artifact", "status",
    ];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn rules_are_chosen_by_message_id_text_and_turn() {
    let script = r#"
        [[rules]]
        when = { message_id = "tck-" }
        steps = [{ fail = "by id" }]
        [[rules]]
        when = { text = "hello" }
        steps = [{ fail = "by text" }]
        [[rules]]
        when = { turn = 2 }
        steps = [{ fail = "by turn" }]
        [[rules]]
        when = { text = "ask" }
        steps = [{ status = { state = "input-required" } }]
    "#;
    let home = TestHome::new().with_script("player", &[], script);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let player = "player".parse().unwrap();
    let said = async |message: Message| match kernel.send_message(&admin, &player, message).await.unwrap() {
        Reply::Task(task) => (task.id, status_text(&task)),
        Reply::Message(_) => panic!("expected a task"),
    };

    assert_eq!(said(Message::text("tck-7".parse().unwrap(), Role::User, "hello")).await.1, "by id");
    assert_eq!(said(kernel.message("hello there")).await.1, "by text");
    let (id, _) = said(kernel.message("ask")).await;
    assert_eq!(said(Message { task_id: Some(id), ..kernel.message("well?") }).await.1, "by turn");
    let unknown = send(&kernel, &admin, "player", "what?").await;
    assert_state(&unknown, TaskState::InputRequired);
    assert!(status_text(&unknown).contains("\"hello\", \"ask\""), "{}", status_text(&unknown));
}

#[tokio::test]
async fn a_reply_needs_no_task() {
    let home = TestHome::new().with_script("player", &[], "[[rules]]\nsteps = [{ reply = \"just so\" }]");
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);

    match kernel
        .send_message(&admin, &"player".parse().unwrap(), kernel.message("hi"))
        .await
        .unwrap()
    {
        Reply::Message(message) => {
            assert_eq!((message.role, message.joined_text()), (Role::Agent, "just so".to_owned()))
        }
        Reply::Task(_) => panic!("expected no task"),
    }
    assert_eq!(kernel.tasks(&admin, openfang_kernel::TaskFilter::default()).await.unwrap().total, 0);
}

#[tokio::test]
async fn a_script_can_end_in_every_state_that_ends_a_turn() {
    for state in ["completed", "failed", "canceled", "rejected", "input-required", "auth-required"] {
        let script = format!("[[rules]]\nsteps = [{{ status = {{ state = \"{state}\", message = \"m\" }} }}]");
        let home = TestHome::new().with_script("player", &[], &script);
        let kernel = home.kernel();
        let task = send(&kernel, &callers::admin(&kernel), "player", "go").await;
        assert_eq!((task.status.state.as_str(), status_text(&task).as_str()), (state, "m"));
    }
}

#[tokio::test]
async fn a_message_with_a_file_can_be_given_back_and_one_with_data_can_name_its_tool() {
    let script = r#"
        [[rules]]
        when = { part = "data" }
        steps = [{ requested_tool = true }, { chunk = "called" }]
        [[rules]]
        when = { part = "file" }
        steps = [{ echo = "copy" }]
        [[rules]]
        steps = [{ requested_tool = true }, { chunk = "never said" }]
    "#;
    let home = TestHome::new().with_script("player", &["add_numbers"], script);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let player = "player".parse().unwrap();
    let said = async |parts: Vec<Part>| {
        let message = kernel.message_of_parts(None, parts);
        match kernel.send_message(&admin, &player, message).await.unwrap() {
            Reply::Task(task) => task,
            Reply::Message(_) => panic!("expected a task"),
        }
    };
    let file = Part::file(vec![1, 2], Some("x.bin".into()), Some("application/x".to_owned()));
    let wish = |tool: serde_json::Value| Part::data(serde_json::json!({"tool": tool, "arguments": {"a": 3, "b": 7}}));

    let called = said(vec![wish("add_numbers".into())]).await;
    let refused = said(vec![wish("shell_exec".into())]).await;
    let unreadable = said(vec![wish(7.into())]).await;
    let echoed = said(vec![Part::text("take this"), file.clone()]).await;
    let unnamed = said(vec![Part::text("hello")]).await;

    assert_state(&called, TaskState::Completed);
    let names = |task: &openfang_types::task::Task| {
        task.artifacts.iter().map(|artifact| artifact.name.clone().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(names(&called), ["add_numbers-result", "reply"]);
    assert_eq!(names(&refused), ["shell_exec-error", "reply"], "what the agent may not use it does not use");
    assert_state(&unreadable, TaskState::Failed);
    assert_eq!(names(&echoed), ["copy"]);
    assert_eq!(echoed.artifacts[0].parts, [Part::text("take this"), file]);
    assert_state(&unnamed, TaskState::Failed);
    assert_eq!(status_text(&unnamed), "the message names no tool");
}

#[tokio::test]
async fn a_file_that_an_agent_makes_has_a_plain_name_wherever_it_is_shown() {
    let script = r#"
        [[rules]]
        steps = [{ artifact = { name = "f", file = { base64 = "AQI=", filename = "../\u001b[31mx\u202etxt.sh" } } }]
    "#;
    let home = TestHome::new().with_script("player", &[], script);
    let kernel = home.kernel();

    let task = send(&kernel, &callers::admin(&kernel), "player", "go").await;

    assert_eq!(task.artifacts[0].parts[0].filename.as_deref(), Some("[31mxtxt.sh"));
    assert!(serde_json::to_string(&task).unwrap().contains("\"[31mxtxt.sh\""));
}
