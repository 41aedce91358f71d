//! What MCP peers did that nobody asked for, for `/metrics`.

use std::sync::Arc;

use openfang_mcp::counts::{Counts, UnknownId};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Registry;

struct McpCollector {
    counts: Arc<Counts>,
}

/// Adds the counters of MCP to what is shown.
pub(crate) fn register(registry: &mut Registry, counts: &Arc<Counts>) {
    registry.register_collector(Box::new(McpCollector { counts: Arc::clone(counts) }));
}

impl Collector for McpCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let (name, help) = ("openfang_mcp_dropped_replies", "Replies of peers to requests that nobody made");
        let mut replies = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (from, what) in [("client", UnknownId::ClientReply), ("server", UnknownId::ServerReply)] {
            ConstCounter::new(self.counts.of(what)).encode(replies.encode_family(&[("from", from)])?)?;
        }
        let (name, help) = ("openfang_mcp_unknown_ids", "Ids of clients that name nothing of theirs");
        let mut ids = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for what in [UnknownId::Session, UnknownId::Request, UnknownId::State] {
            ConstCounter::new(self.counts.of(what)).encode(ids.encode_family(&[("what", what.as_str())])?)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for McpCollector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpCollector").finish_non_exhaustive()
    }
}
