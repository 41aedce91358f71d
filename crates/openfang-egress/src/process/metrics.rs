//! Metrics of child processes.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Exit;

/// Children that were started, that ended (by reason) and that are running.
#[derive(Clone, Debug, Default)]
pub struct ProcessMetrics {
    started: Counter,
    ended: Family<EndLabels, Counter>,
    living: Gauge,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct EndLabels {
    how: &'static str,
}

impl ProcessMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("openfang_children_started", "Child processes that ran", metrics.started.clone());
        registry.register("openfang_children_ended", "Child processes that ended, by how", metrics.ended.clone());
        registry.register("openfang_children_living", "Child processes that run now", metrics.living.clone());
        metrics
    }

    /// One runs its program.
    pub(super) fn ran(&self) {
        self.started.inc();
        self.living.inc();
    }

    /// One that ran is gone.
    pub(super) fn ended(&self, exit: &Exit) {
        self.living.dec();
        self.ended.get_or_create(&EndLabels { how: exit.word() }).inc();
    }

    /// A child was refused or never ran its program.
    pub(super) fn never_ran(&self) {
        self.ended.get_or_create(&EndLabels { how: "never_ran" }).inc();
    }
}
