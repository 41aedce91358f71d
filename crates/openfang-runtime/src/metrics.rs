//! What the pipeline counts.

use std::sync::Arc;
use std::time::Duration;

use openfang_types::ids::ToolName;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Tool calls, by tool and outcome. The names come from the catalogue, so their number is bounded.
#[derive(Clone)]
pub struct PipelineMetrics {
    calls: Family<CallLabels, Counter>,
    seconds: Histogram,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    tool: Arc<str>,
    outcome: &'static str,
}

impl PipelineMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let metrics =
            Self { calls: Family::default(), seconds: Histogram::new(exponential_buckets(0.000_05, 4.0, 12)) };
        registry.register("openfang_tool_calls", "Tool calls by outcome", metrics.calls.clone());
        registry.register("openfang_tool_call_seconds", "How long tool calls took", metrics.seconds.clone());
        metrics
    }

    /// Counts one call. A tool that does not exist is counted without its name: names are the caller's to invent.
    pub(crate) fn count(&self, known: Option<&ToolName>, outcome: &'static str, took: Duration) {
        let tool = known.map_or_else(|| "unknown".into(), ToolName::to_shared);
        self.calls.get_or_create(&CallLabels { tool, outcome }).inc();
        self.seconds.observe(took.as_secs_f64());
    }
}
