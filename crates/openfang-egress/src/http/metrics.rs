//! Metrics of outbound HTTP. Every label has a fixed set of values; names and addresses are never labels.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::HttpError;
use crate::url::{Reach, UrlRefused};

/// Requests, connections and bytes. Cheap to clone.
#[derive(Clone)]
pub struct HttpMetrics {
    requests: Family<RequestLabels, Counter>,
    refused: Family<ReasonLabels, Counter>,
    connections: Family<OutcomeLabels, Counter>,
    body_failures: Family<OutcomeLabels, Counter>,
    retries: Counter,
    bytes: Counter,
    seconds: Histogram,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    reach: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

/// The outcome of opening a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DialOutcome {
    Opened,
    Failed,
    /// No address of the name may be reached, so none was dialled.
    Refused,
    /// The name has no address, so none was dialled.
    Unresolved,
}

impl DialOutcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Unresolved => "unresolved",
        }
    }
}

impl Default for HttpMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            refused: Family::default(),
            connections: Family::default(),
            body_failures: Family::default(),
            retries: Counter::default(),
            bytes: Counter::default(),
            seconds: Histogram::new(exponential_buckets(0.001, 4.0, 9)),
        }
    }
}

impl HttpMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let it = Self::default();
        registry.register("openfang_egress_requests", "Outbound requests by reach and outcome", it.requests.clone());
        registry.register("openfang_egress_refused", "Outbound URLs and addresses refused", it.refused.clone());
        registry.register("openfang_egress_connections", "Outbound connections tried", it.connections.clone());
        registry.register("openfang_egress_body_failures", "Answers given up half-way", it.body_failures.clone());
        registry.register("openfang_egress_retries", "Outbound requests sent again", it.retries.clone());
        registry.register("openfang_egress_received_bytes", "Bytes of answers, as on the wire", it.bytes.clone());
        registry.register("openfang_egress_seconds", "How long the head of an answer took", it.seconds.clone());
        it
    }

    /// Counts a URL that was refused before a request was made.
    pub fn refused(&self, refused: &UrlRefused) {
        self.refused.get_or_create(&ReasonLabels { reason: refused.reason() }).inc();
    }

    pub(super) fn finished(&self, reach: Reach, outcome: &'static str, took: Duration) {
        self.requests.get_or_create(&RequestLabels { reach: reach.as_str(), outcome }).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    pub(super) fn failed(&self, error: &HttpError) {
        if let HttpError::Refused(cause) | HttpError::RedirectRefused { cause, .. } = error {
            self.refused(cause);
        }
    }

    pub(super) fn dialled(&self, outcome: DialOutcome) {
        self.connections.get_or_create(&OutcomeLabels { outcome: outcome.as_str() }).inc();
    }

    pub(super) fn retried(&self) {
        self.retries.inc();
    }

    pub(super) fn received(&self, bytes: usize) {
        self.bytes.inc_by(bytes as u64);
    }

    pub(super) fn body_failed(&self, error: &HttpError) {
        self.body_failures.get_or_create(&OutcomeLabels { outcome: error.outcome() }).inc();
    }

    #[cfg(test)]
    pub(super) fn connections(&self, outcome: DialOutcome) -> u64 {
        self.connections.get_or_create(&OutcomeLabels { outcome: outcome.as_str() }).get()
    }
}
