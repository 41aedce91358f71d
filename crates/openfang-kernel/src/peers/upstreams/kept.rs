//! What is remembered of a server between two runs, in a file of its own: what it has, which era it speaks, and what each
//! of its tools looked like when it was first seen or last approved.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_mcp::client::{KeptManifest, Manifest};
use openfang_types::config::{McpServerConfigEntry, McpTransportEntry, OnChange};
use openfang_types::ids::ServerName;
use openfang_types::redact::Redactor;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::approved::{Approved, Fingerprint, hex};

#[derive(Default, Clone)]
pub(super) struct ServerMemory {
    /// The era that was found.
    pub(super) era: Option<String>,
    /// How the server was reached; another way is another server.
    place: String,
    /// What every tool that was seen looked like and where it was, by its name.
    approved: Arc<Approved>,
}

#[derive(Deserialize)]
struct File<'a> {
    era: Option<String>,
    place: String,
    approved: Approved,
    #[serde(borrow)]
    manifest: KeptManifest<'a>,
}

/// A [`File`] to be written.
#[derive(Serialize)]
struct Written<'a> {
    era: Option<&'a str>,
    place: &'a str,
    approved: &'a Approved,
    manifest: &'a Manifest,
}

/// What a look at a server's tools found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Looked {
    /// Tools that are not what they were.
    pub(super) changed: BTreeSet<String>,
    /// Of these, the ones that must not be used.
    pub(super) quarantined: BTreeSet<String>,
}

impl ServerMemory {
    /// Reads what is remembered, and what the server had. A file that cannot be read is as good as none.
    pub(super) fn read(
        directory: &Path,
        entry: &McpServerConfigEntry,
        redactor: &Redactor,
    ) -> (Self, Option<Manifest>) {
        let text = std::fs::read(path(directory, &entry.name)).unwrap_or_default();
        // The file may be older than a secret that is known today.
        let text = redactor.json(&text);
        let Ok(file) = serde_json::from_slice::<File<'_>>(&text) else {
            return (Self { place: place_of(entry), ..Self::default() }, None);
        };
        let manifest = (file.place == place_of(entry)).then(|| Manifest::of(file.manifest));
        (Self { era: file.era, place: file.place, approved: Arc::new(file.approved) }, manifest)
    }

    /// Holds what a server has against what is remembered of it. What is seen for the first time is good.
    pub(super) fn look(&mut self, entry: &McpServerConfigEntry, manifest: &Manifest) -> Looked {
        let place = place_of(entry);
        let may_be_new = self.place == place || self.approved.is_empty();
        let (mut looked, mut seen) = (Looked::default(), Vec::with_capacity(manifest.tools.entries().len()));
        for tool in manifest.tools.entries() {
            let now = Fingerprint::of(&place, tool);
            match self.approved.get(tool.name()) {
                Some(then) if *then == now => continue,
                None if may_be_new => {}
                Some(_) | None => {
                    looked.changed.insert(tool.name().to_owned());
                    if entry.on_change == OnChange::Quarantine {
                        looked.quarantined.insert(tool.name().to_owned());
                        continue;
                    }
                }
            }
            seen.push((tool.name(), now));
        }
        self.approve_all(&seen);
        if looked.quarantined.is_empty() {
            self.place = place;
        }
        looked
    }

    /// Takes a tool as it is now.
    pub(super) fn approve(&mut self, entry: &McpServerConfigEntry, manifest: &Manifest, tool: &str) {
        let place = place_of(entry);
        if let Some(known) = manifest.tools.get(tool) {
            self.approve_all(&[(tool, Fingerprint::of(&place, known))]);
        }
        let mut all = manifest.tools.entries();
        if all.all(|tool| self.approved.get(tool.name()) == Some(&Fingerprint::of(&place, tool))) {
            self.place = place;
        }
    }

    fn approve_all(&mut self, tools: &[(&str, Fingerprint)]) {
        if !tools.is_empty() {
            self.approved = Arc::new(self.approved.with(tools));
        }
    }

    /// Writes it down, for the next run.
    pub(super) fn write(&self, directory: &Path, name: &ServerName, manifest: &Manifest) -> io::Result<()> {
        let written = Written { era: self.era.as_deref(), place: &self.place, approved: &self.approved, manifest };
        std::fs::create_dir_all(directory)?;
        let path = path(directory, name);
        let beside = path.with_extension("new");
        let mut file = BufWriter::new(std::fs::File::create(&beside)?);
        serde_json::to_writer(&mut file, &written)?;
        file.flush()?;
        std::fs::rename(beside, path)
    }

    pub(super) fn forget(directory: &Path, name: &ServerName) {
        // What is not there need not be removed.
        let _ = std::fs::remove_file(path(directory, name));
    }
}

fn path(directory: &Path, name: &ServerName) -> PathBuf {
    directory.join(format!("{name}.json"))
}

/// How a server is reached, as a fingerprint: it holds what may be secret.
fn place_of(entry: &McpServerConfigEntry) -> String {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update(text.len().to_be_bytes());
        digest.update(text.as_bytes());
    };
    match &entry.transport {
        McpTransportEntry::Stdio { command, args } => {
            add(command);
            args.iter().for_each(|arg| add(arg));
        }
        McpTransportEntry::Sse { url, headers } | McpTransportEntry::Http { url, headers } => {
            add(url);
            headers.keys().for_each(|name| add(name));
        }
    }
    entry.env.iter().for_each(|variable| add(variable.expose()));
    // An entry without one is the server that it was before there was this key.
    if let Some(cwd) = &entry.cwd {
        add("cwd");
        add(cwd);
    }
    hex(&digest.finalize())
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
