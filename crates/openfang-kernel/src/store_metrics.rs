//! What the store has done, for `/metrics`.

use std::sync::Arc;

use openfang_store::StoreHealth;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// Reads the store's own counters when somebody asks.
struct StoreCollector {
    health: Arc<dyn StoreHealth>,
}

/// Adds the store to what is shown.
pub(crate) fn register(registry: &mut Registry, health: &Arc<dyn StoreHealth>) {
    registry.register_collector(Box::new(StoreCollector { health: Arc::clone(health) }));
}

impl Collector for StoreCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let stats = self.health.stats();
        let counters = [
            ("openfang_store_commits", "Commits, each one sync of the log", stats.commits),
            ("openfang_store_writes", "Writes; many fit into one commit", stats.writes),
            ("openfang_store_lost", "Rows nobody waited for that could not be written", stats.lost),
        ];
        for (name, help, value) in counters {
            let counter = ConstCounter::new(value);
            counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)?;
        }
        let failing = ConstGauge::new(i64::from(self.health.failing().is_some()));
        let (name, help) = ("openfang_store_failing", "1 while the store cannot be written");
        failing.encode(encoder.encode_descriptor(name, help, None, failing.metric_type())?)
    }
}

impl std::fmt::Debug for StoreCollector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreCollector").finish_non_exhaustive()
    }
}
