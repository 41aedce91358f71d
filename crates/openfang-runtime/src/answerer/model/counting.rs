//! The tokens of an answer. What a provider does not count is estimated, and what no answer to the request can have taken is cut:
//! budgets hold whatever a provider says.

use openfang_model::{Block, Item, ModelAnswer, ModelRequest, Part, Usage};

/// How many times as many tokens a text may have as estimated. Every byte would be a token.
const MOST_PER_ESTIMATED: u64 = 8;
/// What a provider may add to a request.
const ADDED_TOKENS: u64 = 4096;
/// What an image or a recording may take.
const MEDIA_TOKENS: u64 = 65_536;

/// What an answer to a request takes by estimate, and at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestEstimate {
    input: u64,
    most_input: u64,
    most_output: u64,
}

impl RequestEstimate {
    pub(super) fn of(request: &ModelRequest) -> Self {
        let input = request.estimated_tokens().saturating_add(request.tools.estimated_tokens());
        let media = media_in(request).saturating_mul(MEDIA_TOKENS);
        let most_input = input
            .saturating_mul(MOST_PER_ESTIMATED)
            .saturating_add(ADDED_TOKENS)
            .saturating_add(media);
        Self { input, most_input, most_output: u64::from(request.options.max_tokens).saturating_mul(2) }
    }

    /// What an answer has taken.
    pub(super) fn of_answer(&self, answer: &ModelAnswer) -> Usage {
        let output = of_bytes(answer.blocks.iter().map(length).sum());
        let most_output = self.most_output.max(output.saturating_mul(MOST_PER_ESTIMATED));
        let usage = self.counted(&answer.usage, output);
        if usage.input > Some(self.most_input) || usage.output > Some(most_output) {
            tracing::warn!(
                input = usage.input,
                output = usage.output,
                "a provider counts more tokens than the request and its answer can have; they are counted as what these can have"
            );
        }
        plausible(Usage {
            input: usage.input.map(|input| input.min(self.most_input)),
            output: usage.output.map(|output| output.min(most_output)),
            ..usage
        })
    }

    /// What a request has taken whose answer broke off after so many bytes.
    pub(super) fn of_part(&self, bytes: usize) -> Usage {
        self.counted(&Usage::default(), of_bytes(bytes))
    }

    const fn counted(&self, usage: &Usage, output: u64) -> Usage {
        let mut counted = *usage;
        if counted.input.is_none() {
            counted.input = Some(self.input);
        }
        if counted.output.is_none() {
            counted.output = Some(output);
        }
        counted
    }
}

/// The parts within their whole.
fn plausible(usage: Usage) -> Usage {
    let within = |part: Option<u64>, whole: u64| part.map(|part| part.min(whole));
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    let cached = within(usage.cached, input);
    Usage {
        cached,
        cache_written: within(usage.cache_written, input - cached.unwrap_or(0)),
        reasoning: within(usage.reasoning, output),
        ..usage
    }
}

/// Three and a half bytes make a token.
fn of_bytes(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(2).div_ceil(7)
}

fn length(block: &Block) -> usize {
    match block {
        Block::Text { text } | Block::Thinking { text } => text.len(),
        Block::Call(call) => call.name.len() + call.arguments.as_json().len(),
    }
}

fn media_in(request: &ModelRequest) -> u64 {
    let is_media = |part: &&Part| matches!(part, Part::Image(_) | Part::Audio(_));
    let media = request.items.iter().map(|item| match &**item {
        Item::User { parts } => parts.iter().filter(is_media).count(),
        Item::Results { results } => results.iter().flat_map(|result| &result.parts).filter(is_media).count(),
        Item::Answer { .. } => 0,
    });
    u64::try_from(media.sum::<usize>()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "counting_tests.rs"]
mod tests;
