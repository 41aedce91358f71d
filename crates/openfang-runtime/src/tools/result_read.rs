//! `result_read`: what was cut from a result, or left out of it, piece by piece.

use std::sync::Arc;

use openfang_store::ResultStore;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::{Block, ToolOutput};
use openfang_types::ids::ResultId;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::pipeline::truncate::shown_chars;

pub(super) struct ResultRead {
    pub(super) results: Arc<dyn ResultStore>,
    pub(super) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id that the shortened result names.
    id: String,
    /// Where to begin, in characters; 0 if it is left out.
    #[serde(default)]
    offset: usize,
    /// How many characters to read; as many as fit if it is left out.
    #[serde(default)]
    limit: Option<usize>,
}

impl Tool for ResultRead {
    fn definition(&self) -> ToolDefinition {
        let says = "Reads what was cut from one of your results, or left out of it, by the id that the result names.";
        ToolDefinition::of::<Args>(name("result_read"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { id, offset, limit } = parse(arguments)?;
            let unknown = || {
                let id: String = id.chars().take(40).collect();
                ToolFailure::new(format!("there is no kept result {id}; results are kept for a while, for their owner"))
            };
            let known = id.parse::<ResultId>().map_err(|_| unknown())?;
            let kept = self.results.get(cx.principal.owner(), known, self.clock.now()).await?;
            let kept = kept.filter(|kept| kept.is_known_to(&cx.principal.begun_as())).ok_or_else(unknown)?;
            let fits = shown_chars(cx.config.limits.tool_result_chars);
            let piece = Piece::of(&kept.content, offset, limit.map_or(fits, |limit| limit.min(fits)));
            let output = ToolOutput::of_blocks(vec![Block::text(piece.text), Block::text(piece.note(&known))]);
            Ok(Outcome::Done(output.labelled(&kept.labels)))
        })
    }
}

/// A part of a text, by characters.
struct Piece<'a> {
    text: &'a str,
    begin: usize,
    end: usize,
    all: usize,
}

impl<'a> Piece<'a> {
    fn of(content: &'a str, offset: usize, limit: usize) -> Self {
        let at = |text: &str, chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
        let rest = &content[at(content, offset)..];
        let text = &rest[..at(rest, limit)];
        let all = content.chars().count();
        let begin = offset.min(all);
        Self { text, begin, end: begin + text.chars().count(), all }
    }

    fn note(&self, id: &ResultId) -> String {
        let Self { begin, end, all, .. } = self;
        if end < all {
            format!("[characters {begin} to {end} of {all}; read on with result_read, id {id}, offset {end}]")
        } else {
            format!("[characters {begin} to {end} of {all}; this is the end]")
        }
    }
}

#[cfg(test)]
#[path = "result_read_tests.rs"]
mod tests;
