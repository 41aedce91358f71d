//! Reads push configurations from peers: flat, or nested in an object that names the task.

use openfang_types::ids::TaskName;
use openfang_types::limits;
use openfang_types::secret::Secret;
use serde_json::Value;

use super::members::MemberReader;
use crate::dialect::read::{ReadResult, under};
use crate::dialect::v03_proto::CONFIGS;
use crate::error::A2aError;
use crate::operation::{PushAuthentication, PushNotificationConfig};
use crate::peer::PeerPush;

const NESTED: &[&str] = &["pushNotificationConfig", "push_notification_config"];

/// The configurations of a task: a list, an object with one, or a single configuration.
pub(super) fn list(value: Value) -> ReadResult<Vec<PeerPush>> {
    let values = match value {
        Value::Null => Vec::new(),
        Value::Array(values) => values,
        value => {
            let mut members = MemberReader::of(value)?;
            let lists = &["configs", "pushNotificationConfigs", "push_notification_configs"];
            match members.get(lists) {
                Some(_) => members.list(lists)?,
                None if members.has(NESTED) || members.has(&["url"]) => vec![Value::Object(members.rest())],
                None => Vec::new(),
            }
        }
    };
    let read = |(at, value): (usize, Value)| one(value).map_err(|error| under(&format!("[{at}]"))(error));
    values.into_iter().enumerate().map(read).collect()
}

/// One configuration. If it is nested, the outer object names the task. If it is flat, `id` is the id of the
/// configuration.
pub(super) fn one(value: Value) -> ReadResult<PeerPush> {
    let mut outer = MemberReader::of(value)?;
    let mut task: Option<TaskName> = outer.name(&["taskId", "task_id"])?;
    let mut named = None;
    if let Some(name) = outer.text(&["name"]) {
        let below = name.strip_prefix("tasks/").unwrap_or(&name);
        let (of, id) = below.rsplit_once(CONFIGS).map_or((below, None), |(of, id)| (of, Some(id)));
        named = id.map(str::to_owned);
        task = task.or_else(|| of.parse().ok());
    }
    let inner = match outer.object(NESTED) {
        Some(inner) => {
            task = match task {
                Some(task) => Some(task),
                None => outer.name(&["id"])?,
            };
            inner
        }
        None => outer,
    };
    let mut config = config(inner)?;
    config.id = config.id.or(named);
    Ok(PeerPush { task, config })
}

fn config(mut members: MemberReader) -> ReadResult<PushNotificationConfig> {
    let missing = || A2aError::invalid("url", "`url` is missing; it says where pushes are sent to");
    let url = members.text(&["url"]).ok_or_else(missing)?;
    if url.len() > limits::URL_MAX_BYTES {
        return Err(A2aError::invalid("url", "`url` is too long"));
    }
    let id: Option<TaskName> = members.name(&["id"])?;
    let authentication = members.object(&["authentication"]).and_then(|mut given| {
        let scheme = given.text(&["scheme"]).or_else(|| given.texts(&["schemes"]).into_iter().next())?;
        Some(PushAuthentication { scheme, credentials: given.text(&["credentials"]).map(Secret::new) })
    });
    let token = members.text(&["token"]).map(Secret::new);
    Ok(PushNotificationConfig { id: id.map(|id| id.as_str().to_owned()), url, token, authentication })
}
