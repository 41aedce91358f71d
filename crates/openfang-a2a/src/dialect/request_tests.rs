//! Outgoing calls, and which of them cannot be written.

use super::*;
use crate::operation::{HistoryLength, ReplyMode, SendMessage, TaskReference};
use openfang_types::task::{Message, Role};

fn request(operation: Operation) -> Request {
    Request { tenant: None, operation }
}

fn get(task: &str) -> Request {
    request(Operation::Get { task: task.parse().unwrap(), history: HistoryLength(Some(2)) })
}

fn sending(task: Option<TaskReference>) -> Request {
    request(Operation::Send(Box::new(SendMessage {
        message: Message::text("m".parse().unwrap(), Role::User, "hi"),
        task,
        accepted_output_modes: vec![],
        history: HistoryLength(None),
        answer: ReplyMode::Settled,
        push: None,
    })))
}

#[test]
fn a_message_is_written_as_each_dialect_documents_it() {
    let rpc = |dialect: Dialect| {
        dialect
            .write_rpc(&sending(None))
            .map(|call| format!("{} {}", call.method, call.params.unwrap()))
    };
    let http = |dialect: Dialect| {
        let call = dialect.write_http(&sending(None)).unwrap();
        format!("{} {} {}", call.verb.as_str(), call.path, call.body.unwrap())
    };
    let v01 = r#"tasks/send {"message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}"#;
    assert_eq!(rpc(Dialect::V01).unwrap(), v01);
    let v03 = concat!(
        r#"message/send {"message":{"kind":"message","messageId":"m","role":"user","#,
        r#""parts":[{"kind":"text","text":"hi"}]},"configuration":{"acceptedOutputModes":[],"blocking":true}}"#
    );
    assert_eq!(rpc(Dialect::V03).unwrap(), v03);
    let v10 = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;
    assert_eq!(rpc(Dialect::V10).unwrap(), format!("SendMessage {v10}"));
    assert_eq!(http(Dialect::V10), format!("POST message:send {v10}"));
    let proto = concat!(
        r#"POST v1/message:send {"message":{"messageId":"m","role":"ROLE_USER","#,
        r#""content":[{"text":"hi"}]},"configuration":{"blocking":true}}"#
    );
    assert_eq!(http(Dialect::V03Proto), proto);
    let openfang = concat!(
        r#"POST tasks/send {"jsonrpc":"2.0","id":1,"method":"tasks/send","params":"#,
        r#"{"message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}}"#
    );
    assert_eq!(http(Dialect::OpenFang), openfang);
}

#[test]
fn names_stay_within_their_segment_of_a_path() {
    let path = |task: &str| Dialect::V10.write_http(&get(task)).map(|call| call.path);
    assert_eq!(path("a/../b?c#d e%2f").unwrap(), "tasks/a%2F..%2Fb%3Fc%23d%20e%252f");
    for dots in [".", ".."] {
        assert_eq!(path(dots), Err(WriteError::PathSegment(dots.into())));
    }
    for tenant in ["..", "tasks", "v1", "message:send"] {
        let request = Request { tenant: Some(tenant.into()), ..get("t") };
        assert_eq!(Dialect::V10.write_http(&request).unwrap_err(), WriteError::PathSegment(tenant.into()));
    }
}

#[test]
fn an_empty_tenant_is_none() {
    let request = Request { tenant: Some(String::new()), ..get("t") };
    assert_eq!(Dialect::V10.write_http(&request).unwrap().path, "tasks/t");
    assert_eq!(Dialect::V10.write_rpc(&request).unwrap().params.unwrap().get(), r#"{"id":"t","historyLength":2}"#);
    assert!(Dialect::V03.write_rpc(&request).is_ok());
}

#[test]
fn only_1_0_states_its_version() {
    let stating: Vec<Dialect> = Dialect::ALL.into_iter().filter(|dialect| dialect.stated_version().is_some()).collect();
    assert_eq!((stating, Dialect::V10.stated_version()), (vec![Dialect::V10], Some("1.0")));
}

#[test]
fn what_would_mean_something_else_is_refused() {
    let new = || sending(Some(TaskReference::ExistingOrNew("t".parse().unwrap())));
    assert_eq!(Dialect::V10.write_rpc(&new()).unwrap_err(), WriteError::NewTask(Dialect::V10));
    assert_eq!(Dialect::V03.write_rpc(&new()).unwrap_err(), WriteError::NewTask(Dialect::V03));
    assert_eq!(Dialect::V03Proto.write_http(&new()).unwrap_err(), WriteError::NewTask(Dialect::V03Proto));
    let tenant = Request { tenant: Some("a".into()), ..get("t") };
    assert_eq!(Dialect::V03.write_rpc(&tenant).unwrap_err(), WriteError::NoTenant(Dialect::V03));
    let unnamed = request(Operation::GetPush { task: "t".parse().unwrap(), id: None });
    assert_eq!(Dialect::V10.write_rpc(&unnamed).unwrap_err(), WriteError::PushUnnamed(Dialect::V10));
    let list = request(Operation::List(crate::operation::ListTasks::default()));
    let missing = Dialect::V01.write_rpc(&list).unwrap_err();
    assert_eq!(missing.to_string(), "A2A 0.1 has no operation `list`");
    assert_eq!(Dialect::V01.write_http(&get("t")).unwrap_err().to_string(), "A2A 0.1 has no HTTP+JSON binding");
    assert!(matches!(Dialect::OpenFang.write_rpc(&get("t")), Err(WriteError::NoBinding(..))));
}
