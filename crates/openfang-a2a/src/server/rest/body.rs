//! Combines path, query and body into one request.

use openfang_types::ids::TaskName;
use openfang_types::scan::scan_text;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::path::{Resource, RestPath};
use crate::dialect::Dialect;
use crate::error::A2aError;
use crate::operation::{HistoryLength, Method, Operation, Request};

/// Reads a request. The path has precedence over the body.
pub(super) fn read(place: &RestPath, method: Method, query: &str, body: &[u8]) -> Result<Request, A2aError> {
    let operation = match &place.resource {
        Resource::Send | Resource::Stream => return decoded(place, method, body),
        Resource::Tasks => return listed(query),
        Resource::Task(id) => Operation::Get { task: task(id)?, history: history(query)? },
        Resource::Cancel(id) => {
            check(body)?;
            Operation::Cancel { task: task(id)? }
        }
        Resource::Subscribe(id) => Operation::Subscribe { task: task(id)? },
        Resource::Pushes(id) if method == Method::SetPush => {
            let mut asked = decoded(place, method, body)?;
            if let Operation::SetPush { task: named, .. } = &mut asked.operation {
                *named = Some(task(id)?);
            }
            return Ok(asked);
        }
        Resource::Pushes(id) => Operation::ListPush { task: task(id)? },
        Resource::Push(id, config) if method == Method::DeletePush => {
            Operation::DeletePush { task: task(id)?, id: config.clone() }
        }
        Resource::Push(id, config) => Operation::GetPush { task: task(id)?, id: Some(config.clone()) },
        Resource::ExtendedCard | Resource::Card => Operation::ExtendedCard,
    };
    Ok(Request { tenant: None, operation })
}

/// A malformed name belongs to no task.
fn task(id: &str) -> Result<TaskName, A2aError> {
    id.parse().map_err(|_| A2aError::TaskNotFound)
}

fn decoded(place: &RestPath, method: Method, body: &[u8]) -> Result<Request, A2aError> {
    let params = check(body)?;
    let asked = place.dialect.decode(method, params)?;
    // The path alone names the agent.
    Ok(if place.tenant.is_some() { Request { tenant: None, ..asked } } else { asked })
}

/// A body that passed the strict scan. Clients send an empty body where there are no parameters.
fn check(body: &[u8]) -> Result<Option<&RawValue>, A2aError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let text = scan_text(body).map_err(|error| A2aError::Parse(error.to_string()))?;
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| A2aError::Parse(error.to_string()))?;
    if raw.get().starts_with('{') { Ok(Some(raw)) } else { Err(A2aError::invalid("", "the body must be an object")) }
}

fn history(query: &str) -> Result<HistoryLength, A2aError> {
    let Some((_, length)) = pairs(query).find(|(key, _)| key == "historyLength" || key == "history_length") else {
        return Ok(HistoryLength::default());
    };
    let length = length.parse::<u32>();
    let length = length.map_err(|_| A2aError::invalid("historyLength", "it must be a whole number, 0 or more"))?;
    Ok(HistoryLength(Some(length as usize)))
}

/// Reads the filter of a list from the query, by the same rules as from JSON.
fn listed(query: &str) -> Result<Request, A2aError> {
    let mut members = Map::new();
    for (key, value) in pairs(query) {
        let is_number = matches!(key.as_str(), "pageSize" | "page_size" | "historyLength" | "history_length");
        let is_flag = matches!(key.as_str(), "includeArtifacts" | "include_artifacts");
        let value = match value.as_str() {
            text if is_number => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
            "true" if is_flag => Value::from(true),
            "false" if is_flag => Value::from(false),
            text => Value::from(text),
        };
        members.insert(key, value);
    }
    let params = to_raw_value(&members).map_err(|_| A2aError::Internal)?;
    Dialect::V10.decode(Method::List, Some(&params))
}

fn pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    url::form_urlencoded::parse(query.as_bytes()).map(|(key, value)| (key.into_owned(), value.into_owned()))
}
