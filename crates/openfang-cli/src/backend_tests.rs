//! The kernel in this process, as commands see it. The daemon's side is tested end to end.

use openfang_types::task::TaskState;

use super::*;
use crate::args::Global;
use crate::output::Output;

struct Fixture {
    session: Session,
    backend: Backend,
    _home: tempfile::TempDir,
}

async fn fixture() -> Fixture {
    let home = tempfile::tempdir().unwrap();
    let global = Global { home: Some(home.path().to_owned()), quiet: true, ..Global::default() };
    let session = Session::new(&global, Output::new(&global)).unwrap();
    let backend = Backend::open(&session).await.unwrap();
    Fixture { session, backend, _home: home }
}

fn to_starter(text: &str) -> Outgoing {
    Outgoing::text("starter".parse().unwrap(), text)
}

#[tokio::test]
async fn without_a_daemon_the_home_is_written_and_a_kernel_runs_here() {
    let Fixture { session, backend, _home } = fixture().await;

    assert!(session.home.config().exists());
    assert_eq!(backend.agents().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_tool_is_called_and_a_refusal_has_the_words_of_the_api() {
    let Fixture { session, backend, _home } = fixture().await;
    let talk = Arc::new(Talk::new(&session.output));
    let call = |name: &str, arguments: Value| {
        let name: ToolName = name.parse().unwrap();
        let arguments = arguments.as_object().unwrap().clone();
        let (backend, talk) = (&backend, &talk);
        async move {
            let call = CallOf { name: &name, arguments, cancel: CancellationToken::new() };
            backend.call_tool(&call, talk).await
        }
    };

    let sum = call("add_numbers", json!({ "a": 3, "b": 7 })).await.unwrap();
    assert_eq!(sum.joined_text(), "10");

    let refused = call("nope", json!({})).await.unwrap_err();
    assert_eq!(refused.to_json()["error"]["code"], "unknown_tool");
}

#[tokio::test]
async fn a_message_gives_the_same_task_at_once_and_as_a_stream() {
    let Fixture { backend, _home, .. } = fixture().await;

    let Reply::Task(task) = backend.send(to_starter("Ada")).await.unwrap() else { panic!("no task") };

    let mut following = backend.send_streaming(to_starter("Ada")).await.unwrap();
    let mut streamed: Option<Task> = None;
    while let Some(shown) = following.next().await.unwrap() {
        match shown {
            StreamUpdate::Task(task) => streamed = Some(*task),
            StreamUpdate::Event(event) => streamed.as_mut().unwrap().apply(&event.body),
            StreamUpdate::Message(_) | StreamUpdate::Shutdown {} => panic!("{shown:?}"),
        }
    }
    let streamed = streamed.unwrap();
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(streamed.status.state, TaskState::Completed);
    assert_eq!(streamed.artifacts, task.artifacts);
}

#[tokio::test]
async fn an_agent_and_its_policy_can_be_looked_at() {
    let Fixture { backend, _home, .. } = fixture().await;
    let (starter, tool) = ("starter".parse().unwrap(), "file_write".parse().unwrap());

    let view = backend.agent(&starter).await.unwrap();
    let said = backend.explain(&starter, &tool).await.unwrap();

    assert_eq!(view.agent.name, starter);
    assert!(view.tools.iter().all(|name| *name != tool));
    assert!(!said.granted);
}

#[test]
fn items_of_a_stream_are_one_object_with_one_member() {
    assert_eq!(serde_json::to_string(&StreamUpdate::Shutdown {}).unwrap(), r#"{"shutdown":{}}"#);
}
