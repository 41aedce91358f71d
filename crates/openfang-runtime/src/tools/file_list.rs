//! `file_list`: what is in a directory of the caller's workspace.

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::files::Files;
use crate::pipeline::Permit;
use crate::workspace::{Entry, EntryKind, Listing};

pub(super) struct FileList {
    pub(super) files: Files,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The directory, relative to the workspace; the workspace itself if absent.
    #[serde(default = "here")]
    path: String,
}

fn here() -> String {
    ".".to_owned()
}

impl Tool for FileList {
    fn definition(&self) -> ToolDefinition {
        let says = "Lists a directory of the workspace.";
        ToolDefinition::of::<Args>(name("file_list"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { path } = parse(arguments)?;
            let (listing, named_with) = self.files.list(cx, &path).await?;
            let labels = Labels::one(Label::Workspace, format!("directory {path}")).joined(&named_with);
            Ok(Outcome::Done(ToolOutput::text(shown(&listing)).labelled(&labels)))
        })
    }
}

fn shown(listing: &Listing) -> String {
    let line = |entry: &Entry| match entry.kind {
        EntryKind::File => format!("{} ({} bytes)", entry.name, entry.size),
        EntryKind::Directory => format!("{}/", entry.name),
        EntryKind::Link | EntryKind::Other => format!("{} ({})", entry.name, entry.kind.as_str()),
    };
    let mut lines: Vec<String> = listing.entries.iter().map(line).collect();
    if listing.truncated {
        lines.push(format!("[truncated: more than {} entries]", listing.entries.len()));
    }
    if lines.is_empty() { "(empty)".to_owned() } else { lines.join("\n") }
}
