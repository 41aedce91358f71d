//! What became of pushes, for `/metrics`.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::post::Verdict;

#[derive(Clone, Default)]
pub(crate) struct PushMetrics {
    posts: Family<PostLabels, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PostLabels {
    outcome: &'static str,
}

impl PushMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("openfang_push_posts", "Push notifications posted, by outcome", metrics.posts.clone());
        metrics
    }

    pub(super) fn count(&self, verdict: &Verdict) {
        let outcome = match verdict {
            Verdict::Delivered(_) => "delivered",
            Verdict::Failed { .. } => "failed",
            Verdict::TooFast(_) => "too_fast",
            Verdict::Refused { .. } => "refused",
        };
        self.posts.get_or_create(&PostLabels { outcome }).inc();
    }
}
