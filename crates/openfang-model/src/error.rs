//! Why there is no answer, and what to do about it.

use std::time::Duration;

use openfang_egress::http::HttpError;
use openfang_egress::url::UrlRefused;
use openfang_types::limits::{MODEL_BACKOFF, MODEL_BACKOFF_MAX, MODEL_LEFT_ALONE, MODEL_RETRIES, MODEL_RETRIES_CUT};

use crate::refusal::{Refusal, RefusalKind};
use crate::validity::Unencodable;
use crate::wire::WireFault;

/// Why a model gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The request is wrong for every provider.
    #[error(transparent)]
    Unencodable(#[from] Unencodable),
    /// The base URL cannot be used.
    #[error("the base url of the provider cannot be used: {0}")]
    BaseUrl(#[from] UrlRefused),
    /// The key contains characters that no header can carry.
    #[error("the API key has characters that cannot be sent; check that it was copied whole")]
    BadKey,
    #[error("cannot get an answer from the provider: {0}")]
    Http(#[from] HttpError),
    /// The answer took too long in all.
    #[error("the answer took longer than {after:?}")]
    TookTooLong { after: Duration },
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The provider rejects one tool.
    #[error("{refusal}; the tool is {tool}")]
    ToolRejected { tool: String, refusal: Box<Refusal> },
    #[error(transparent)]
    Fault(WireFault),
}

impl From<Refusal> for ModelError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<WireFault> for ModelError {
    fn from(fault: WireFault) -> Self {
        match fault {
            WireFault::Refused(refusal) => Self::Refused(refusal),
            fault => Self::Fault(fault),
        }
    }
}

/// What to do about an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The same request again, at most so often, then the next model.
    Retry {
        /// The least wait that the provider asks for.
        after: Option<Duration>,
        at_most: u32,
    },
    /// The next model of the list, without another try of this one.
    Fallback {
        /// How long this model is not worth another request.
        leave_alone: Option<Duration>,
        /// Whether a model with the same key would fail the same way.
        needs_other_key: bool,
    },
    /// A shorter conversation, once, then the next model.
    Compact,
    /// The same request without this tool.
    WithoutTool(String),
    /// The same request in canonical form, without native items, once.
    WithoutNative,
    /// Nothing helps: the run ends with this error.
    GiveUp,
}

const NEXT: Verdict = Verdict::Fallback { leave_alone: None, needs_other_key: false };

impl ModelError {
    /// The one table of what follows from an error.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Unencodable(_) => Verdict::GiveUp,
            Self::BaseUrl(_) => NEXT,
            Self::BadKey => Verdict::Fallback { leave_alone: None, needs_other_key: true },
            Self::Http(error) => of_http(error),
            Self::TookTooLong { .. } => NEXT,
            Self::Refused(refusal) => of_refusal(refusal),
            Self::ToolRejected { tool, .. } => Verdict::WithoutTool(tool.clone()),
            Self::Fault(fault) => of_fault(fault),
        }
    }
}

fn of_http(error: &HttpError) -> Verdict {
    let busy = |after| Verdict::Retry { after, at_most: MODEL_RETRIES };
    match error {
        HttpError::Unresolvable { .. }
        | HttpError::Unreachable { .. }
        | HttpError::ConnectTimeout { .. }
        | HttpError::FirstByte { .. }
        | HttpError::Stalled { .. } => busy(None),
        HttpError::CircuitOpen { retry_after, .. } | HttpError::TooFast { retry_after, .. } => busy(Some(*retry_after)),
        HttpError::Interrupted { .. } | HttpError::BadResponse { .. } | HttpError::Corrupt { .. } => {
            Verdict::Retry { after: None, at_most: MODEL_RETRIES_CUT }
        }
        HttpError::Refused(_)
        | HttpError::RedirectRefused { .. }
        | HttpError::Tls { .. }
        | HttpError::TookTooLong { .. }
        | HttpError::TooLarge { .. }
        | HttpError::Bomb { .. }
        | HttpError::UnsupportedEncoding { .. }
        | HttpError::TooManyRedirects { .. }
        | HttpError::Downgrade { .. }
        | HttpError::BodyAcrossOrigins { .. }
        | HttpError::Events { .. }
        | HttpError::ReservedHeader { .. }
        | HttpError::Method { .. }
        | HttpError::Setup { .. } => NEXT,
    }
}

fn of_refusal(refusal: &Refusal) -> Verdict {
    match refusal.kind {
        // Who asks for a longer pause than anybody waits is left for the next model.
        RefusalKind::Busy if refusal.retry_after.is_some_and(|after| after > MODEL_BACKOFF_MAX) => {
            Verdict::Fallback { leave_alone: refusal.retry_after, needs_other_key: false }
        }
        RefusalKind::Busy => Verdict::Retry { after: refusal.retry_after, at_most: MODEL_RETRIES },
        RefusalKind::Quota => Verdict::Fallback { leave_alone: Some(MODEL_LEFT_ALONE), needs_other_key: false },
        RefusalKind::ContextTooLong => Verdict::Compact,
        RefusalKind::BadNative => Verdict::WithoutNative,
        RefusalKind::Unauthorized => Verdict::Fallback { leave_alone: None, needs_other_key: true },
        RefusalKind::NoSuchModel | RefusalKind::BadTool { .. } => NEXT,
        RefusalKind::Blocked | RefusalKind::BadRequest => Verdict::GiveUp,
    }
}

fn of_fault(fault: &WireFault) -> Verdict {
    match fault {
        WireFault::Cut | WireFault::Malformed { .. } => Verdict::Retry { after: None, at_most: MODEL_RETRIES_CUT },
        WireFault::ContextCut { .. } => Verdict::Compact,
        WireFault::NotAnAnswer { .. }
        | WireFault::TooLarge { .. }
        | WireFault::Events(_)
        | WireFault::TooManyBlocks { .. }
        | WireFault::TooManyCalls => NEXT,
        WireFault::Refused(refusal) => of_refusal(refusal),
    }
}

/// The pause before a retry: random below a doubling bound, and not shorter than the provider asks. Attempts count from 0.
pub fn backoff(attempt: u32, after: Option<Duration>) -> Duration {
    // Without randomness the pause is as long as its bound.
    let chance = f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX);
    let bound = MODEL_BACKOFF.saturating_mul(2_u32.saturating_pow(attempt)).min(MODEL_BACKOFF_MAX);
    bound.mul_f64(chance).max(after.unwrap_or_default())
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
