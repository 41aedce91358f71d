//! What a result loses on its way is kept for its owner, and the result says where. A result of which nothing can be kept
//! says that too; the call does not fail for it.

use std::borrow::Cow;
use std::time::Duration;

use openfang_store::{KeptResult, ResultForm, StoreError};
use openfang_types::ids::{ResultId, ToolName};
use openfang_types::taint::{Label, Labels};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::truncate::{Fate, Loss};
use super::{CallOutput, Pipeline, Sensitive, output};
use crate::context::CallContext;

/// Keeps what a result loses, with the labels of the result, and marks it there.
pub(super) async fn losses<T: CallOutput>(
    pipeline: &Pipeline,
    cx: &CallContext,
    (sensitive, labels): (&Sensitive, Labels),
    losses: Vec<Loss>,
    result: &mut T,
) {
    for mut loss in losses {
        let content = std::mem::take(&mut loss.content);
        // Only what the caller is shown on the terminal may still hold one.
        let content = if labels.contains(Label::Secret) { redacted(sensitive, loss.form, content) } else { content };
        let fate = keep(pipeline, cx, loss.form, content, &labels).await;
        if let Some(block) = result.block_mut(loss.place()) {
            loss.mark(block, &fate);
        }
    }
}

async fn keep(pipeline: &Pipeline, cx: &CallContext, form: ResultForm, content: String, labels: &Labels) -> Fate {
    let lasts = Duration::from_secs(cx.config.limits.kept_result_secs);
    if lasts.is_zero() {
        return Fate::Gone("limits.kept_result_secs is 0");
    }
    let now = pipeline.clock.now();
    let Ok(expires_at) = now.checked_add(lasts) else { return Fate::Gone("limits.kept_result_secs is too large") };
    let id = ResultId::from_uuid(Uuid::new_v4());
    let scope = Some(cx.principal.begun_as());
    let kept = KeptResult { form, content, labels: labels.clone(), scope, expires_at };
    match pipeline.results.keep(cx.principal.owner(), id, kept, now).await {
        Ok(()) => Fate::Kept(id),
        Err(StoreError::OwnerFull { .. } | StoreError::TooMany { .. }) => {
            Fate::Gone("there is no room for more kept results")
        }
        Err(error) => {
            tracing::warn!(%error, trace = %cx.trace, "what a result lost was not kept");
            Fate::Gone("the store cannot be written now")
        }
    }
}

impl Pipeline {
    /// Keeps a text for its owner, under the id that is returned. None if there is no room, or nothing is kept.
    pub(crate) async fn keep_text(&self, cx: &CallContext, text: String, labels: &Labels) -> Option<ResultId> {
        let text = redacted(&self.sensitive(), ResultForm::Text, text);
        match keep(self, cx, ResultForm::Text, text, labels).await {
            Fate::Kept(id) => Some(id),
            Fate::OfTask(_) | Fate::Gone(_) => None,
        }
    }

    /// Whether the caller's own grants let it read kept results, whatever the agent in between may do.
    pub(crate) fn may_read_results(&self, cx: &CallContext) -> bool {
        let tool = "result_read".parse().ok().and_then(|name: ToolName| self.catalog().get(&name));
        let through = cx.agent.as_ref().map(|agent| &agent.name);
        tool.is_some_and(|tool| cx.principal.may_use(&tool.traits, through))
    }
}

/// The content without configured secrets.
fn redacted(sensitive: &Sensitive, form: ResultForm, content: String) -> String {
    let clean = match form {
        ResultForm::Text => match sensitive.redacted(&content) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        },
        ResultForm::Json => {
            let json: Option<&RawValue> = serde_json::from_str(&content).ok();
            json.and_then(|json| output::redacted(json, sensitive))
                .map(|clean| clean.get().to_owned())
        }
    };
    clean.unwrap_or(content)
}
