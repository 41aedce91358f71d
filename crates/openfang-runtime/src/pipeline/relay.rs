//! The way to what a server answers in its own words: the same guards, but the result is handed through as it came.
//!
//! What the server does with arguments is for the server to say, so they are not held against a schema. There is no run,
//! and so no loop guard and no context that labels could enter.

use openfang_types::tool::ToolTraits;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Hidden, Pipeline, ToolError, audit, capability, taint};
use crate::context::CallContext;

/// What came of a call that was handed on.
pub trait Handed {
    /// Whether the server says that it failed.
    fn is_failure(&self) -> bool;
}

impl Pipeline {
    /// Hands a call on, if the caller may make it. `what` need not be in the catalogue: a server's resources have a name
    /// for the guards too.
    pub async fn hand_on<T: Handed>(
        &self,
        cx: &CallContext,
        what: &ToolTraits,
        arguments: Option<&RawValue>,
        work: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let mut record = audit::open(self, cx, &what.name);
        let outcome = async {
            if !capability::allows(cx, what) {
                return Err(capability::refusal(cx, what, Hidden::NotGranted));
            }
            let sensitive = self.sensitive();
            // Most arguments hold nothing to be found, and a look at the bytes says so.
            let arguments = arguments.filter(|raw| !sensitive.is_harmless_json(raw.get()));
            let arguments: Value = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
            taint::check_sink(&sensitive, cx, what, &arguments)?;
            record.commit_before_effect(what).await?;
            tokio::select! {
                biased;
                () = cx.cancel.cancelled() => Err(ToolError::Cancelled(what.name.clone())),
                done = work => Ok(done),
            }
        }
        .await;
        record.close(outcome.as_ref().map(Handed::is_failure));
        outcome
    }
}
