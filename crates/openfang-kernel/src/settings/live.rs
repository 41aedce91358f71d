//! The settings in force, and who replaces them. Looking at them is one read of a shared pointer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::settings_status::SettingsStatus;
use tokio::sync::watch;

use super::config_file::Overlay;
use super::snapshot::Settings;

/// The settings in force.
pub(crate) struct LiveSettings {
    current: watch::Sender<Arc<Settings>>,
    /// What lies over the file for as long as this process lives: its environment and its flags.
    overlays: Vec<Overlay>,
    /// Held by whoever replaces the settings or writes the file.
    replacing: tokio::sync::Mutex<()>,
    /// How the files stood to the settings when they were last read.
    status: Mutex<SettingsStatus>,
}

impl LiveSettings {
    pub(crate) fn new(first: Settings, overlays: Vec<Overlay>) -> Self {
        let status = SettingsStatus { failed_agents: first.failed_agents().to_vec(), ..SettingsStatus::default() };
        Self {
            current: watch::Sender::new(Arc::new(first)),
            overlays,
            replacing: tokio::sync::Mutex::new(()),
            status: Mutex::new(status),
        }
    }

    /// What is in force now.
    pub(crate) fn current(&self) -> Arc<Settings> {
        Arc::clone(&self.current.borrow())
    }

    /// Tells when the settings are replaced.
    pub(crate) fn changes(&self) -> watch::Receiver<Arc<Settings>> {
        self.current.subscribe()
    }

    /// From now on these are in force.
    pub(super) fn replace(&self, next: Settings) {
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
    pub(crate) fn take_over_servers(&self, edit: impl FnOnce(&mut openfang_types::config::Config)) {
        self.replace(self.current().with_servers(edit));
    }

    /// How the files stood to the settings when they were last read.
    pub(crate) fn status(&self) -> SettingsStatus {
        self.lock().clone()
    }

    pub(super) fn set_status(&self, status: SettingsStatus) {
        *self.lock() = status;
    }

    fn lock(&self) -> MutexGuard<'_, SettingsStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
