//! Reads requests of 0.3 on HTTP+JSON.

use openfang_types::ids::TaskName;
use openfang_types::task::{Part, PartBody};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::CONFIGS;
use crate::dialect::read::{
    self, Count, ListIn, Metadata, Object, PartIn, PushIn, ReadResult, SendConventions, SendIn, file_body, filled,
    named, required, unwrapped, whole_numbers,
};
use crate::error::A2aError;
use crate::operation::{HistoryLength, Method, Operation, Request};

/// An absent boolean is false in protocol buffers.
const MANNER: SendConventions =
    SendConventions { waits: |configuration| configuration.blocking.unwrap_or(false), push: "pushNotification" };

pub(in crate::dialect) fn decode(method: Method, params: Option<&RawValue>) -> ReadResult<Request> {
    let operation = match method {
        Method::Send | Method::Stream => read::params::<SendIn<ProtoPart>>(params)?.read(method, &MANNER)?.operation,
        Method::Get => {
            let mut names: NamesIn = read::params(params)?;
            let history = HistoryLength(names.history_length.take().map(|count| count.0));
            Operation::Get { task: names.task()?, history }
        }
        Method::List => return read::params::<ListIn>(params)?.read(),
        Method::Cancel => Operation::Cancel { task: read::params::<NamesIn>(params)?.task()? },
        Method::Subscribe => Operation::Subscribe { task: read::params::<NamesIn>(params)?.task()? },
        Method::SetPush => read::params::<SetPushIn>(params)?.read()?,
        Method::GetPush => {
            let (task, id) = read::params::<NamesIn>(params)?.config()?;
            Operation::GetPush { task, id }
        }
        Method::ListPush => Operation::ListPush { task: read::params::<NamesIn>(params)?.task()? },
        Method::DeletePush => {
            let (task, id) = read::params::<NamesIn>(params)?.config()?;
            let missing = || A2aError::invalid("name", "the name of the push configuration is missing");
            Operation::DeletePush { task, id: id.ok_or_else(missing)? }
        }
        Method::ExtendedCard => Operation::ExtendedCard,
    };
    Ok(Request { tenant: None, operation })
}

/// `Part`: the member that is present determines its kind.
#[derive(Deserialize)]
struct ProtoPart {
    text: Option<String>,
    file: Option<Object<FileIn>>,
    data: Option<Object<DataIn>>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileIn {
    #[serde(alias = "file_with_uri")]
    file_with_uri: Option<String>,
    #[serde(alias = "file_with_bytes")]
    file_with_bytes: Option<String>,
    #[serde(alias = "mime_type")]
    mime_type: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct DataIn {
    data: Option<Object<Map<String, Value>>>,
}

impl PartIn for ProtoPart {
    fn read(self) -> ReadResult<Part> {
        let mut metadata = self.metadata.unwrap_or_default().0;
        let (mut filename, mut media_type) = (None, None);
        let body = match (self.text, self.file, self.data) {
            (Some(text), None, None) => PartBody::Text(text),
            (None, Some(Object(file)), None) => {
                (filename, media_type) = (filled(file.name).map(Into::into), filled(file.mime_type));
                file_body("file", file.file_with_bytes, file.file_with_uri)?
            }
            (None, None, Some(Object(data))) => {
                PartBody::Data(whole_numbers(unwrapped(data.data.unwrap_or_default().0, &mut metadata)))
            }
            (None, None, None) => return Err(A2aError::invalid("", "a part needs one of `text`, `file`, `data`")),
            _ => return Err(A2aError::invalid("", "a part has only one of `text`, `file`, `data`")),
        };
        Ok(Part { body, filename, media_type, metadata })
    }
}

/// The resource of a request, as a resource name or by the ids in the path.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamesIn {
    #[serde(alias = "parent")]
    name: Option<String>,
    id: Option<String>,
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    #[serde(alias = "configId", alias = "config_id", alias = "push_notification_config_id")]
    push_notification_config_id: Option<String>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
}

impl NamesIn {
    fn task(self) -> ReadResult<TaskName> {
        Ok(self.config()?.0)
    }

    fn config(self) -> ReadResult<(TaskName, Option<String>)> {
        let (task, config) = match (filled(self.name), filled(self.task_id)) {
            (Some(name), None) => resource(&name)?,
            (None, Some(task)) => (Some(task), self.push_notification_config_id.or(self.id)),
            (None, None) => (self.id, self.push_notification_config_id),
            (Some(_), Some(_)) => return Err(A2aError::invalid("name", "a task has `name` or `taskId`, not both")),
        };
        let config: Option<TaskName> = named("pushNotificationConfigId", config)?;
        Ok((required("name", task)?, config.map(|id| id.as_str().to_owned())))
    }
}

/// The task, and the push configuration if the name includes one.
fn resource(name: &str) -> ReadResult<(Option<String>, Option<String>)> {
    let Some(below) = name.strip_prefix("tasks/") else {
        return Err(A2aError::invalid("name", "`name` must be tasks/ID, or tasks/ID/pushNotificationConfigs/ID"));
    };
    Ok(match below.rsplit_once(CONFIGS) {
        Some((task, config)) => (Some(task.to_owned()), Some(config.to_owned())),
        None => (Some(below.to_owned()), None),
    })
}

/// `CreateTaskPushNotificationConfigRequest`, or just the `TaskPushNotificationConfig` inside. Clients send either.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetPushIn {
    parent: Option<String>,
    #[serde(alias = "config_id")]
    config_id: Option<String>,
    config: Option<Object<TaskConfigIn>>,
    name: Option<String>,
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<Object<PushIn>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskConfigIn {
    name: Option<String>,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<Object<PushIn>>,
}

impl SetPushIn {
    fn read(self) -> ReadResult<Operation> {
        let (inner_name, config) = match self.config {
            Some(Object(inner)) => (inner.name, inner.push_notification_config),
            None => (self.name, self.push_notification_config),
        };
        let resource = filled(self.parent).or(filled(inner_name)).map(|name| resource(&name)).transpose()?;
        let (task, id) = resource.unwrap_or((self.task_id, None));
        let mut config = read::config(config)?;
        let said: Option<TaskName> = named("configId", filled(self.config_id).or(id))?;
        config.id = config.id.or(said.map(|id| id.as_str().to_owned()));
        Ok(Operation::SetPush { task: named("name", task)?, config })
    }
}
