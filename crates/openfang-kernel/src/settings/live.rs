//! The settings in force, and who replaces them. Looking at them is one read of a shared pointer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_runtime::answerer::remote::ExternalAgents;
use openfang_types::config::{ExternalAgent, McpServerConfigEntry};
use openfang_types::settings_status::{FailedServer, SettingsStatus};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::sync::watch;

use super::config_file::Overlay;
use super::home::{Exposure, Home};
use super::snapshot::Settings;
use super::watching::FileMarks;

/// The settings in force.
pub(crate) struct LiveSettings {
    current: watch::Sender<Arc<Settings>>,
    /// What lies over the file for as long as this process lives: its environment and its flags.
    overlays: Vec<Overlay>,
    /// Held by whoever replaces the settings or writes the file.
    replacing: tokio::sync::Mutex<()>,
    /// How the files stood to the settings when they were last read.
    status: Mutex<SettingsStatus>,
    /// What the files looked like when they were last read.
    seen: Mutex<FileMarks>,
    /// What the operator was told about who else may write them.
    exposures: Mutex<Vec<Exposure>>,
    metrics: SettingsMetrics,
}

/// What is counted of reloads.
#[derive(Default)]
pub(crate) struct SettingsMetrics {
    rejected: Gauge,
    reloads: Counter,
}

impl SettingsMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let rejected = "1 while the files of the home are invalid and not in effect";
        registry.register("openfang_config_rejected", rejected, metrics.rejected.clone());
        let reloads = "Number of reloads of the files of the home";
        registry.register("openfang_config_reloads", reloads, metrics.reloads.clone());
        metrics
    }
}

impl LiveSettings {
    /// The first ones, which were read from the files as they are now. Blocks.
    pub(crate) fn new(
        first: Settings,
        (overlays, failed_servers): (Vec<Overlay>, Vec<FailedServer>),
        home: &Home,
        metrics: SettingsMetrics,
    ) -> Self {
        let failed_agents = first.failed_agents().to_vec();
        let status = SettingsStatus { failed_agents, failed_servers, ..SettingsStatus::default() };
        Self {
            current: watch::Sender::new(Arc::new(first)),
            overlays,
            replacing: tokio::sync::Mutex::new(()),
            status: Mutex::new(status),
            seen: Mutex::new(FileMarks::of(home)),
            exposures: Mutex::new(home.exposures().unwrap_or_default()),
            metrics,
        }
    }

    /// What is in force now.
    pub(crate) fn current(&self) -> Arc<Settings> {
        Arc::clone(&self.current.borrow())
    }

    /// Looks at what is in force now, for a moment: nobody can replace it meanwhile.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Settings) -> T) -> T {
        look(&self.current.borrow())
    }

    /// Tells when the settings are replaced.
    pub(crate) fn changes(&self) -> watch::Receiver<Arc<Settings>> {
        self.current.subscribe()
    }

    /// From now on these are in force.
    pub(crate) fn replace(&self, next: Settings) {
        self.current.send_replace(Arc::new(next));
    }

    /// What lies over the file.
    pub(crate) fn overlays(&self) -> &[Overlay] {
        &self.overlays
    }

    /// One replacement, or one edit of the file, at a time.
    pub(crate) async fn alone(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.replacing.lock().await
    }

    /// Takes over a list of MCP servers that was written to the file. To be called by whoever is [alone](Self::alone).
    pub(crate) fn take_over_servers(&self, edit: impl FnOnce(&mut Vec<McpServerConfigEntry>)) {
        self.replace(self.current().with_servers(edit));
    }

    /// The same for external agents.
    pub(crate) fn take_over_external(
        &self,
        peers: &Arc<dyn ExternalAgents>,
        edit: impl FnOnce(&mut Vec<ExternalAgent>),
    ) {
        self.replace(self.current().with_external(peers, edit));
    }

    /// How the files stood to the settings when they were last read.
    pub(crate) fn status(&self) -> SettingsStatus {
        self.lock().clone()
    }

    /// The files were read and are good.
    pub(crate) fn set_status(&self, status: SettingsStatus) {
        *self.lock() = status;
        self.metrics.rejected.set(0);
        self.metrics.reloads.inc();
    }

    /// The files were read and are not taken over.
    pub(crate) fn reject(&self, faults: String) {
        self.lock().rejected = Some(faults);
        self.metrics.rejected.set(1);
    }

    /// The files are about to be read. Blocks.
    pub(crate) fn note_files(&self, home: &Home) {
        let marks = FileMarks::of(home);
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = marks;
    }

    /// Complains about who else may write the files, once for each change.
    pub(crate) fn tell_exposures(&self, found: Vec<Exposure>) {
        let mut told = self.exposures.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != found {
            found.iter().for_each(|exposure| tracing::warn!("{exposure}"));
            *told = found;
        }
    }

    /// Whether the files looked so when they were last read.
    pub(crate) fn has_seen(&self, marks: &FileMarks) -> bool {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) == *marks
    }

    fn lock(&self) -> MutexGuard<'_, SettingsStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
