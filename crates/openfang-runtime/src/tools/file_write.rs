//! `file_write`: writes a text file in the caller's workspace, whole or not at all.

use openfang_types::content::ToolOutput;
use openfang_types::limits::FILE_WRITE_MAX_BYTES;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::file_labels::FileLabels;
use crate::pipeline::Permit;
use crate::workspaces::Workspaces;

pub(super) struct FileWrite {
    pub(super) workspaces: Workspaces,
    pub(super) labels: FileLabels,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, relative to the workspace. Its directories are made.
    path: String,
    /// The whole new content.
    content: String,
}

impl Tool for FileWrite {
    fn definition(&self) -> ToolDefinition {
        let says = "Writes a text file of the workspace, replacing it if it exists.";
        ToolDefinition::of::<Args>(name("file_write"), says, SinkKind::Writes, ToolAnnotations::REPLACES)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Value, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { path, content } = parse(arguments)?;
            if content.len() > FILE_WRITE_MAX_BYTES {
                return Err(ToolFailure::new("the content is larger than 5 MiB; write several files"));
            }
            let (place, context) = (Workspaces::place(cx), cx.context_labels());
            self.labels.before_write(&place, &path, &context).await?;
            let target = path.clone();
            let written = self.workspaces.with(cx, move |files| files.write(&target, content.as_bytes())).await?;
            self.labels.after_write(&place, &path, &context).await?;
            let verb = if written.created { "created" } else { "replaced" };
            Ok(ToolOutput::text(format!("{verb} {path}, {} bytes", written.bytes)))
        })
    }
}
