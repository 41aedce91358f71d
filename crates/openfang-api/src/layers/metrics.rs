//! HTTP metrics: requests by route, method and status, and their duration.

use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

pub(super) struct HttpMetrics {
    requests: Family<RequestLabels, Counter>,
    seconds: Histogram,
}

/// All three labels have a fixed set of values, so that a caller cannot create new series.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    path: &'static str,
    method: &'static str,
    status: u16,
}

impl HttpMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics =
            Self { requests: Family::default(), seconds: Histogram::new(exponential_buckets(0.000_05, 4.0, 12)) };
        registry.register("openfang_http_requests", "Requests by route and status", metrics.requests.clone());
        registry.register("openfang_http_request_seconds", "Duration of requests", metrics.seconds.clone());
        metrics
    }

    pub(super) fn count(&self, path: &'static str, method: &Method, status: StatusCode, took: Duration) {
        let method = match *method {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::DELETE => "DELETE",
            Method::HEAD => "HEAD",
            Method::OPTIONS => "OPTIONS",
            _ => "other",
        };
        self.requests
            .get_or_create(&RequestLabels { path, method, status: status.as_u16() })
            .inc();
        self.seconds.observe(took.as_secs_f64());
    }
}
