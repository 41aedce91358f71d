//! Reads requests of 0.2 and 0.3.

use openfang_types::ids::TaskName;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dialect::read::{self, LegacyPart, Object, PushIn, ReadResult, SendConventions, SendIn, TaskIn, required};
use crate::error::A2aError;
use crate::operation::{Method, Operation, Request};

const MANNER: SendConventions =
    SendConventions { waits: |configuration| configuration.blocking.unwrap_or(true), push: "pushNotificationConfig" };

pub(in crate::dialect) fn decode(method: Method, params: Option<&RawValue>) -> ReadResult<Request> {
    let operation = match method {
        Method::Send | Method::Stream => read::params::<SendIn<LegacyPart>>(params)?.read(method, &MANNER)?.operation,
        Method::Get => {
            let (task, history) = read::params::<TaskIn>(params)?.task()?;
            Operation::Get { task, history }
        }
        Method::Cancel => Operation::Cancel { task: read::params::<TaskIn>(params)?.task()?.0 },
        Method::Subscribe => Operation::Subscribe { task: read::params::<TaskIn>(params)?.task()?.0 },
        Method::SetPush => read::params::<SetPushIn>(params)?.read()?,
        Method::GetPush => {
            let PushNameIn { id, push_notification_config_id } = read::params(params)?;
            let config: Option<TaskName> = read::named("pushNotificationConfigId", push_notification_config_id)?;
            Operation::GetPush { task: required("id", id)?, id: config.map(|id| id.as_str().to_owned()) }
        }
        Method::ListPush => Operation::ListPush { task: required("id", read::params::<PushNameIn>(params)?.id)? },
        Method::DeletePush => {
            let PushNameIn { id, push_notification_config_id } = read::params(params)?;
            let config: TaskName = required("pushNotificationConfigId", push_notification_config_id)?;
            Operation::DeletePush { task: required("id", id)?, id: config.as_str().to_owned() }
        }
        Method::ExtendedCard => Operation::ExtendedCard,
        Method::List => return Err(A2aError::MethodNotFound(method.to_string())),
    };
    // Tenants came with 1.0.
    Ok(Request { tenant: None, operation })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetPushIn {
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<Object<PushIn>>,
}

impl SetPushIn {
    fn read(self) -> ReadResult<Operation> {
        let task = required("taskId", self.task_id)?;
        let config = read::config(self.push_notification_config)?;
        Ok(Operation::SetPush { task: Some(task), config })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PushNameIn {
    id: Option<String>,
    #[serde(alias = "push_notification_config_id")]
    push_notification_config_id: Option<String>,
}
