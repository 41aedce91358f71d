//! Posts that belong to no task: judged, signed and paced as those of tasks.

use std::sync::Arc;
use std::time::Duration;

use openfang_egress::http::Pacer;
use openfang_store::PushConfig;
use openfang_types::secret::Secret;
use openfang_types::task::Origin;

use super::pace::Pace;
use super::payload::Payload;
use super::post::{self, Verdict};
use crate::tasks::Tasks;

/// A post to a hook.
pub(crate) struct HookPost<'a> {
    pub(crate) url: &'a str,
    /// The key of the signature.
    pub(crate) token: Option<&'a Secret>,
    /// The same whenever it is sent again.
    pub(crate) event: &'a str,
    /// A JSON document, as bytes.
    pub(crate) body: Vec<u8>,
}

/// What became of a post.
pub(crate) enum HookOutcome {
    /// The receiver has it.
    Taken,
    /// It may go better later, and not before this long if the receiver says so.
    Later(String, Option<Duration>),
    /// Nothing was sent: its address was told enough for now.
    TooFast(Duration),
    /// It will not go better later.
    Refused(String),
}

/// The pace of hooks.
#[derive(Clone, Default)]
pub(crate) struct HookPace(Arc<Pace>);

impl Tasks {
    /// Posts something to a hook, once.
    pub(crate) async fn post_hook(&self, pace: &HookPace, sent: HookPost<'_>) -> HookOutcome {
        let config = PushConfig {
            id: String::new(),
            url: sent.url.to_owned(),
            host: String::new(),
            token: sent.token.cloned(),
            authorization: None,
            origin: Origin::OpenFang,
            maker: None,
        };
        let payload = Payload { media_type: "application/json", body: sent.body };
        let pacer = Arc::clone(&pace.0) as Arc<dyn Pacer>;
        match post::post(self, pacer, &config, sent.event, payload).await {
            Verdict::Delivered(_) => HookOutcome::Taken,
            Verdict::Failed { why, after } => HookOutcome::Later(why, after),
            Verdict::TooFast(pause) => HookOutcome::TooFast(pause),
            Verdict::Refused { why } => HookOutcome::Refused(why),
        }
    }
}
