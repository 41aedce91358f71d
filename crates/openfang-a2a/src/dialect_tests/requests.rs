//! Requests written by a client are read back unchanged by the server, and match the official schemas.

use openfang_types::task::{Message, Role, TaskState};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::samples::*;
use super::super::*;
use super::laws;
use crate::operation::{
    HistoryLength, ListTasks, Operation, PushNotificationConfig, ReplyMode, SendMessage, TaskReference,
};
use crate::server::read_back;

const TENANT: &str = "a b";

fn sending(dialect: Dialect, message: Message, answer: ReplyMode) -> Operation {
    let names_tasks = matches!(dialect, Dialect::V01 | Dialect::OpenFang);
    let task = || "t/1:x".parse().unwrap();
    Operation::Send(Box::new(SendMessage {
        message: Message { context_id: Some("c".parse().unwrap()), ..message },
        task: Some(if names_tasks { TaskReference::ExistingOrNew(task()) } else { TaskReference::Existing(task()) }),
        accepted_output_modes: vec!["text/plain".into()],
        history: HistoryLength(Some(3)),
        answer,
        push: Some(push().config),
    }))
}

/// Every operation with all its parameters.
fn operations(dialect: Dialect) -> Vec<Operation> {
    let asked = rich_task(TaskState::Working).history.swap_remove(0);
    let task = || "t/1:x".parse().unwrap();
    let listing = ListTasks {
        context_id: Some("c&d".parse().unwrap()),
        state: Some(TaskState::InputRequired),
        changed_since: Some(at("2026-03-02T12:00:00.123456Z")),
        page_size: Some(7),
        page_token: Some("a=b&c".into()),
        history: HistoryLength(Some(0)),
        include_artifacts: true,
    };
    vec![
        sending(dialect, asked.clone(), ReplyMode::Settled),
        sending(dialect, asked.clone(), ReplyMode::AtOnce),
        sending(dialect, asked, ReplyMode::Streaming),
        Operation::Get { task: task(), history: HistoryLength(Some(2)) },
        Operation::Get { task: task(), history: HistoryLength(None) },
        Operation::List(listing),
        Operation::List(ListTasks::default()),
        Operation::Cancel { task: task() },
        Operation::Subscribe { task: task() },
        Operation::SetPush { task: Some(task()), config: push().config },
        Operation::SetPush { task: Some(task()), config: PushNotificationConfig { id: None, ..push().config } },
        Operation::GetPush { task: task(), id: Some("p/1".into()) },
        Operation::ListPush { task: task() },
        Operation::DeletePush { task: task(), id: "p/1".into() },
        Operation::ExtendedCard,
    ]
}

/// The operation without the parameters a dialect cannot express.
fn kept(dialect: Dialect, operation: Operation) -> Operation {
    let is_old = matches!(dialect, Dialect::V01 | Dialect::OpenFang);
    match operation {
        Operation::Send(mut sending) => {
            sending.message = laws::kept(dialect, &sending.message);
            if is_old {
                sending.accepted_output_modes.clear();
                sending.push = sending.push.map(|push| PushNotificationConfig { id: None, ..push });
                sending.answer = if sending.answer == ReplyMode::AtOnce { ReplyMode::Settled } else { sending.answer };
                sending.message.message_id = "m".parse().unwrap();
            }
            Operation::Send(sending)
        }
        Operation::SetPush { task, config } if is_old => {
            Operation::SetPush { task, config: PushNotificationConfig { id: None, ..config } }
        }
        Operation::GetPush { task, .. } if is_old => Operation::GetPush { task, id: None },
        Operation::Get { task, .. } if dialect == Dialect::OpenFang => {
            Operation::Get { task, history: HistoryLength(None) }
        }
        other => other,
    }
}

/// 0.1 has no message ids, so each decoding generates one.
fn without_fresh_id(dialect: Dialect, mut request: Request) -> Request {
    if let Operation::Send(sending) = &mut request.operation
        && matches!(dialect, Dialect::V01 | Dialect::OpenFang)
    {
        sending.message.message_id = "m".parse().unwrap();
    }
    request
}

/// Sends a request through JSON-RPC and decodes it again.
fn over_rpc(dialect: Dialect, request: &Request) -> Result<Request, WriteError> {
    let call = dialect.write_rpc(request)?;
    let method = dialect.methods().iter().find(|(name, _)| *name == call.method).unwrap().1;
    Ok(without_fresh_id(dialect, dialect.decode(method, call.params.as_deref()).unwrap()))
}

/// Sends a request through HTTP+JSON and decodes it again.
fn over_http(dialect: Dialect, request: &Request) -> Result<Request, WriteError> {
    let call = dialect.write_http(request)?;
    if dialect != Dialect::OpenFang {
        return Ok(read_back(&call));
    }
    let path: Vec<String> = call
        .path
        .split('/')
        .map(|segment| percent_encoding::percent_decode_str(segment).decode_utf8().unwrap().into_owned())
        .collect();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let operation = match (call.verb, path.as_slice()) {
        (Verb::Post, ["tasks", "send"]) => dialect.decode(Method::Send, call.body.as_deref()).unwrap().operation,
        (Verb::Get, ["tasks", task]) => Operation::Get { task: task.parse().unwrap(), history: HistoryLength(None) },
        (Verb::Post, ["tasks", task, "cancel"]) => Operation::Cancel { task: task.parse().unwrap() },
        other => panic!("{other:?}"),
    };
    Ok(without_fresh_id(dialect, Request { tenant: None, operation }))
}

#[test]
fn every_request_that_is_written_is_read_as_the_same() {
    for dialect in Dialect::ALL {
        for operation in operations(dialect) {
            let method = operation.method();
            let has_rpc = dialect.methods().iter().any(|(_, known)| *known == method);
            let has_http = match dialect {
                Dialect::V10 | Dialect::V03Proto => true,
                Dialect::OpenFang => matches!(method, Method::Send | Method::Get | Method::Cancel),
                Dialect::V01 | Dialect::V03 => false,
            };
            for tenant in [None, Some(TENANT.to_owned())] {
                let request = Request { tenant: tenant.clone(), operation: operation.clone() };
                let expected = Request { operation: kept(dialect, operation.clone()), ..request.clone() };
                for (has, written) in [(has_rpc, over_rpc(dialect, &request)), (has_http, over_http(dialect, &request))]
                {
                    match written {
                        Ok(read) => assert_eq!((has, &read), (true, &expected), "{dialect:?} {method}"),
                        Err(WriteError::NoTenant(_)) => assert!(tenant.is_some() && dialect != Dialect::V10),
                        Err(error) => assert!(!has, "{dialect:?} {method}: {error}"),
                    }
                }
            }
        }
    }
}

/// The JSON-RPC request in the form the schemas define.
fn enveloped(call: &RpcCall) -> Value {
    let mut request = json!({"jsonrpc": "2.0", "id": 1, "method": call.method});
    if let Some(params) = &call.params {
        request["params"] = serde_json::from_str(params.get()).unwrap();
    }
    request
}

#[test]
fn what_is_written_validates_against_the_official_schemas() {
    for operation in operations(Dialect::V01) {
        let request = Request { tenant: None, operation };
        if let Ok(call) = Dialect::V01.write_rpc(&request) {
            schemas::V01.holds(v01_definition(call.method), &enveloped(&call));
        }
    }
    for operation in operations(Dialect::V03) {
        let request = Request { tenant: None, operation };
        let Ok(call) = Dialect::V03.write_rpc(&request) else { continue };
        schemas::V03.holds("A2ARequest", &enveloped(&call));
        // The last method was introduced in 0.3.
        if call.method != "agent/getAuthenticatedExtendedCard" {
            schemas::V02.holds("A2ARequest", &enveloped(&call));
        }
    }
    for operation in operations(Dialect::V03Proto) {
        let call = Dialect::V03Proto
            .write_http(&Request { tenant: None, operation: operation.clone() })
            .unwrap();
        let message = match operation.method() {
            Method::Send | Method::Stream => "SendMessageRequest",
            Method::SetPush => "CreateTaskPushNotificationConfigRequest",
            _ => continue,
        };
        proto::V03.holds(message, &serde_json::from_str(call.body.unwrap().get()).unwrap());
    }
    for operation in operations(Dialect::V10) {
        let message = v10_message(operation.method());
        let call = Dialect::V10.write_rpc(&Request { tenant: Some(TENANT.into()), operation }).unwrap();
        proto::V10.holds(message, &serde_json::from_str(call.params.unwrap().get()).unwrap());
    }
}

/// The schema's union of all requests lacks the streaming one.
fn v01_definition(method: &str) -> &'static str {
    match method {
        "tasks/sendSubscribe" => "SendTaskStreamingRequest",
        _ => "A2ARequest",
    }
}

fn v10_message(method: Method) -> &'static str {
    match method {
        Method::Send | Method::Stream => "SendMessageRequest",
        Method::Get => "GetTaskRequest",
        Method::List => "ListTasksRequest",
        Method::Cancel => "CancelTaskRequest",
        Method::Subscribe => "SubscribeToTaskRequest",
        Method::SetPush => "TaskPushNotificationConfig",
        Method::GetPush => "GetTaskPushNotificationConfigRequest",
        Method::ListPush => "ListTaskPushNotificationConfigsRequest",
        Method::DeletePush => "DeleteTaskPushNotificationConfigRequest",
        Method::ExtendedCard => "GetExtendedAgentCardRequest",
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_message_that_is_written_is_read_as_the_same(message in laws::message(Just(Role::User))) {
        for dialect in Dialect::ALL {
            let operation = sending(dialect, message.clone(), ReplyMode::Settled);
            let expected = Request { tenant: None, operation: kept(dialect, operation.clone()) };
            let request = Request { tenant: None, operation };
            for read in [over_rpc(dialect, &request), over_http(dialect, &request)].into_iter().flatten() {
                prop_assert_eq!(&read, &expected, "{:?}", dialect);
            }
        }
    }
}
