//! `file_read`: the text of a file in the caller's workspace.

use openfang_types::call::{Arguments, Outcome};
use openfang_types::config::PiiConfig;
use openfang_types::content::ToolOutput;
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::files::Files;
use crate::pipeline::Permit;
use crate::workspace::FileBytes;

pub(super) struct FileRead {
    pub(super) files: Files,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, relative to the workspace.
    path: String,
}

impl Tool for FileRead {
    fn definition(&self) -> ToolDefinition {
        let says = "Reads a text file of the workspace.";
        ToolDefinition::of::<Args>(name("file_read"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { path } = parse(arguments)?;
            let (file, written_with) = self.files.read(cx, &path).await?;
            let labels = labels_of(&path, &cx.config.pii).joined(&written_with);
            Ok(Outcome::Done(ToolOutput::text(text_of(&path, file)?).labelled(&labels)))
        })
    }
}

fn text_of(path: &str, file: FileBytes) -> Result<String, ToolFailure> {
    let FileBytes { mut bytes, size, truncated } = file;
    if truncated {
        // The cut may have split the last character.
        let whole = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
        if bytes.len() - whole < 4 {
            bytes.truncate(whole);
        }
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|_| ToolFailure::new(format!("{path} is not text; this tool reads UTF-8 files")))?;
    if truncated {
        text.push_str(&format!("\n[truncated: the file has {size} bytes]"));
    }
    Ok(text)
}

pub(super) fn labels_of(path: &str, pii: &PiiConfig) -> Labels {
    let mut labels = Labels::one(Label::Workspace, format!("file {path}"));
    let components = |text: &str| text.split('/').filter(|c| !matches!(*c, "" | ".")).map(str::to_owned).collect();
    let path_components: Vec<String> = components(path);
    let below = |personal: &String| {
        let personal: Vec<String> = components(personal);
        path_components.starts_with(&personal)
    };
    if pii.paths.iter().any(below) {
        labels.add(Label::Pii, format!("file {path}, which config calls personal"));
    }
    labels
}

#[cfg(test)]
#[path = "file_read_tests.rs"]
mod tests;
