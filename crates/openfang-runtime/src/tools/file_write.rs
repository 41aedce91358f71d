//! `file_write`: writes a text file in the caller's workspace, whole or not at all.

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::limits::FILE_WRITE_MAX_BYTES;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::files::Files;
use crate::pipeline::Permit;

pub(super) struct FileWrite {
    pub(super) files: Files,
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

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { path, content } = parse(arguments)?;
            if content.len() > FILE_WRITE_MAX_BYTES {
                return Err(ToolFailure::new("the content is larger than 5 MiB; write several files"));
            }
            let written = self.files.write(cx, &path, content).await?;
            let verb = if written.created { "created" } else { "replaced" };
            Ok(Outcome::Done(ToolOutput::text(format!("{verb} {path}, {} bytes", written.bytes))))
        })
    }
}
