//! Reads requests of 1.0.

use openfang_types::ids::TaskName;
use openfang_types::task::{Part, PartBody};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::read::{
    self, ListIn, Metadata, PartIn, PushIn, ReadResult, SendConventions, SendIn, TaskIn, bytes_of, filled, required,
    whole_numbers,
};
use crate::error::A2aError;
use crate::operation::{Method, Operation, Request};

const MANNER: SendConventions = SendConventions {
    waits: |configuration| !configuration.return_immediately.unwrap_or(false),
    push: "taskPushNotificationConfig",
};

pub(in crate::dialect) fn decode(method: Method, params: Option<&RawValue>) -> ReadResult<Request> {
    match method {
        Method::Send | Method::Stream => read::params::<SendIn<PartV10>>(params)?.read(method, &MANNER),
        Method::Get => task(params, |(task, history)| Operation::Get { task, history }),
        Method::Cancel => task(params, |(task, _)| Operation::Cancel { task }),
        Method::Subscribe => task(params, |(task, _)| Operation::Subscribe { task }),
        Method::List => read::params::<ListIn>(params)?.read(),
        Method::SetPush => set_push(read::params(params)?),
        Method::GetPush => {
            let (tenant, task, id) = read::params::<PushNameIn>(params)?.one()?;
            Ok(Request { tenant, operation: Operation::GetPush { task, id: Some(id) } })
        }
        Method::DeletePush => {
            let (tenant, task, id) = read::params::<PushNameIn>(params)?.one()?;
            Ok(Request { tenant, operation: Operation::DeletePush { task, id } })
        }
        Method::ListPush => {
            let PushNameIn { tenant, task_id, .. } = read::params(params)?;
            let task = required("taskId", task_id)?;
            Ok(Request { tenant: read::tenant(tenant)?, operation: Operation::ListPush { task } })
        }
        Method::ExtendedCard => {
            let TenantIn { tenant } = read::params(params)?;
            Ok(Request { tenant: read::tenant(tenant)?, operation: Operation::ExtendedCard })
        }
    }
}

/// `Part`: the member that is present determines its kind.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartV10 {
    text: Option<String>,
    raw: Option<String>,
    url: Option<String>,
    #[serde(default, deserialize_with = "read::any")]
    data: Option<Value>,
    metadata: Option<Metadata>,
    filename: Option<String>,
    #[serde(alias = "media_type")]
    media_type: Option<String>,
}

impl PartIn for PartV10 {
    fn read(self) -> ReadResult<Part> {
        // Some clients write every member, with null for the absent ones.
        let spare = self.text.is_some() || self.raw.is_some() || self.url.is_some();
        let data = self.data.filter(|value| !(spare && value.is_null()));
        let body = match (self.text, self.raw, filled(self.url), data) {
            (Some(text), None, None, None) => PartBody::Text(text),
            (None, Some(raw), None, None) => PartBody::Raw(bytes_of("raw", &raw)?),
            (None, None, Some(url), None) => PartBody::Url(url),
            (None, None, None, Some(value)) => PartBody::Data(whole_numbers(value)),
            (None, None, None, None) => {
                return Err(A2aError::invalid("", "a part needs one of `text`, `raw`, `url`, `data`"));
            }
            _ => return Err(A2aError::invalid("", "a part has only one of `text`, `raw`, `url`, `data`")),
        };
        Ok(Part {
            body,
            filename: filled(self.filename).map(Into::into),
            media_type: filled(self.media_type),
            metadata: self.metadata.unwrap_or_default().0,
        })
    }
}

#[derive(Deserialize)]
struct TenantIn {
    tenant: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PushNameIn {
    tenant: Option<String>,
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    id: Option<String>,
}

impl PushNameIn {
    fn one(self) -> ReadResult<(Option<String>, TaskName, String)> {
        let task = required("taskId", self.task_id)?;
        // Ids of configurations follow the same rule as ids of tasks.
        let id: TaskName = required("id", self.id)?;
        Ok((read::tenant(self.tenant)?, task, id.as_str().to_owned()))
    }
}

fn set_push(mut config: PushIn) -> ReadResult<Request> {
    let (tenant, task) = config.whose()?;
    Ok(Request { tenant, operation: Operation::SetPush { task, config: config.read()? } })
}

fn task(
    params: Option<&RawValue>,
    operation: impl FnOnce((TaskName, crate::operation::HistoryLength)) -> Operation,
) -> ReadResult<Request> {
    let mut named: TaskIn = read::params(params)?;
    Ok(Request { tenant: named.tenant()?, operation: operation(named.task()?) })
}
