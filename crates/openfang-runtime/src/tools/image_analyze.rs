//! `image_analyze`: an image of the workspace for a model that can see, with what its header says. Nothing is decoded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::ImageType;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::{Block, ContentBlock, ToolOutput};
use openfang_types::limits::{IMAGE_MAX_BYTES, IMAGE_PROMPT_MAX_BYTES};
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Tool, ToolFailure, ToolFuture, file_read, name, parse};
use crate::context::CallContext;
use crate::files::Files;
use crate::pipeline::Permit;

pub(super) struct ImageAnalyze {
    pub(super) files: Files,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The image file, relative to the workspace: PNG, JPEG, GIF or WebP.
    path: String,
    /// What to find out about the image; a model that sees images answers it.
    prompt: Option<String>,
}

/// What the header of an image says.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ImageFacts {
    /// The media type, by the content of the file.
    media_type: &'static str,
    width: usize,
    height: usize,
    /// The size of the file in bytes.
    bytes: usize,
    /// Whether the image itself is part of the result.
    included: bool,
}

impl Tool for ImageAnalyze {
    fn definition(&self) -> ToolDefinition {
        let says =
            "Returns an image of the workspace, with its format and size. A model that sees images can describe it.";
        ToolDefinition::of::<Args>(name("image_analyze"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
            .returning::<ImageFacts>()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { path, prompt } = parse(arguments)?;
            if prompt.as_ref().is_some_and(|prompt| prompt.len() > IMAGE_PROMPT_MAX_BYTES) {
                return Err(ToolFailure::new(format!("the prompt is longer than {IMAGE_PROMPT_MAX_BYTES} bytes")));
            }
            let (file, written_with) = self.files.read_at_most(cx, &path, IMAGE_MAX_BYTES).await?;
            if file.truncated {
                let why =
                    format!("{path} has {} bytes, and an image may have {IMAGE_MAX_BYTES}; make it smaller", file.size);
                return Err(ToolFailure::new(why));
            }
            let labels = file_read::labels_of(&path, &cx.config.pii).joined(&written_with);
            let mut facts = facts_of(&path, &file.bytes)?;
            let data = STANDARD.encode(&file.bytes);
            facts.included = data.len() < cx.config.limits.tool_result_block_bytes;
            let mut blocks = vec![Block::text(words(&path, &facts, prompt.as_deref()))];
            if facts.included {
                blocks.push(ContentBlock::Image { data, mime_type: facts.media_type.to_owned() }.into());
            }
            Ok(Outcome::Done(ToolOutput::of_blocks(blocks).with_structured(&facts).labelled(&labels)))
        })
    }
}

/// Reads the header. The content decides, not the name of the file.
fn facts_of(path: &str, bytes: &[u8]) -> Result<ImageFacts, ToolFailure> {
    let unknown = || ToolFailure::new(format!("{path} is not a PNG, JPEG, GIF or WebP image"));
    let media_type = match imagesize::image_type(bytes).map_err(|_| unknown())? {
        ImageType::Png => "image/png",
        ImageType::Jpeg => "image/jpeg",
        ImageType::Gif => "image/gif",
        ImageType::Webp => "image/webp",
        _ => return Err(unknown()),
    };
    let size = imagesize::blob_size(bytes);
    let size =
        size.map_err(|_| ToolFailure::new(format!("{path} begins like {media_type}, but its header is damaged")))?;
    Ok(ImageFacts { media_type, width: size.width, height: size.height, bytes: bytes.len(), included: false })
}

fn words(path: &str, facts: &ImageFacts, prompt: Option<&str>) -> String {
    let ImageFacts { media_type, width, height, bytes, included } = facts;
    let mut words = format!("{path}: {media_type}, {width} x {height} pixels, {bytes} bytes");
    if !included {
        words.push_str(
            "\nthe image is larger than a result may be, so only these facts are returned; make the image smaller",
        );
    } else if let Some(prompt) = prompt {
        words.push_str(&format!("\nlook at the image to answer: {prompt}"));
    }
    words
}

#[cfg(test)]
#[path = "image_analyze_tests.rs"]
mod tests;
