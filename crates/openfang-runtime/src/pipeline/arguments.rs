//! The arguments against the tool's schema. No reference leaves the schema, and patterns run in linear time.

use serde_json::Value;

use super::{Permit, ToolError};

/// Enough to act on; a hostile document can have as many problems as members.
const SHOWN_PROBLEMS: usize = 5;
const SHOWN_CHARS: usize = 200;

/// Refuses arguments that do not fit.
pub(super) fn check(permit: &Permit, arguments: &Value) -> Result<(), ToolError> {
    let tool = &permit.traits().name;
    let validator = permit
        .tool()
        .validator()
        .map_err(|why| ToolError::UnusableSchema { tool: tool.clone(), why: why.to_owned() })?;
    if validator.is_valid(arguments) {
        return Ok(());
    }
    let problems = validator.iter_errors(arguments).take(SHOWN_PROBLEMS).map(|error| {
        let place = error.instance_path().to_string();
        let text = error.to_string();
        let short: String = text.chars().take(SHOWN_CHARS).collect();
        if place.is_empty() { short } else { format!("at {place}: {short}") }
    });
    Err(ToolError::InvalidArguments { tool: tool.clone(), problems: problems.collect() })
}
