//! Two tools in the place of all, for clients that ask for it: what they list, and what a search finds. Only what the caller
//! could list otherwise is found.

use std::sync::Arc;

use openfang_mcp::McpError;
use openfang_mcp::listing::{Entry, Listed, Listing};
use openfang_runtime::mcp_server::raw;
use openfang_runtime::tool_index::ToolWords;
use openfang_runtime::tool_search::{
    CALL_DESCRIPTION, FoundTool, SEARCH_DESCRIPTION, TOOL_CALL, TOOL_SEARCH, ToolQuery, call_schema, report,
    search_schema,
};
use openfang_types::content::ToolOutput;
use serde_json::{Value, json};

use super::host::KernelHost;
use crate::Caller;

/// The list that has only the two tools.
pub(super) fn listing() -> Arc<Listing> {
    let search = json!({
        "name": TOOL_SEARCH,
        "title": "Find tools",
        "description": SEARCH_DESCRIPTION,
        "inputSchema": search_schema(),
        "annotations": {
            "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
        },
    });
    // What is called may do anything, and may take long.
    let call = json!({
        "name": TOOL_CALL,
        "title": "Call a tool",
        "description": CALL_DESCRIPTION,
        "inputSchema": call_schema(),
        "annotations": {
            "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true,
        },
        "execution": { "taskSupport": "optional" },
    });
    let entries = vec![Entry::new(TOOL_SEARCH, raw(&search)), Entry::new(TOOL_CALL, raw(&call))];
    Arc::new(Listing::new(Listed::Tools, entries))
}

/// The words of tools that are not in the catalogue.
pub(super) fn words(entries: &[Entry]) -> Vec<ToolWords> {
    let words = entries.iter().map(|entry| {
        let tool = found(entry);
        ToolWords { name: tool.name, description: tool.description, parameters: Vec::new() }
    });
    words.collect()
}

/// Says which tools have the words of a query.
pub(super) async fn search(host: &KernelHost, caller: &Caller, arguments: &str) -> Result<ToolOutput, McpError> {
    let query = match ToolQuery::read(arguments) {
        Ok(query) => query,
        Err(why) => return Ok(ToolOutput::error(why)),
    };
    let prepared = host.prepared(caller)?;
    let index = host.doors.inner.pipeline.tool_index().await;
    let ranked = index.ranked(&query.query, &prepared.others);
    let entries = ranked.into_iter().filter_map(|name| prepared.tools.get(name));
    let found: Vec<FoundTool> = entries.take(query.limit()).map(found).collect();
    Ok(ToolOutput::text(report(&found)))
}

/// An entry as a search shows it.
fn found(entry: &Entry) -> FoundTool {
    let mut json: Value = serde_json::from_str(&entry.json()).unwrap_or_default();
    FoundTool {
        name: entry.name().to_owned(),
        description: json["description"].as_str().unwrap_or_default().to_owned(),
        schema: json["inputSchema"].take(),
    }
}
