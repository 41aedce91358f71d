//! What is remembered of a server between two runs, in a file of its own: what it has, which era it speaks, and what each
//! of its tools looked like when it was first seen or last approved.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use openfang_mcp::client::{KeptManifest, Manifest, fingerprint};
use openfang_types::config::{McpServerConfigEntry, McpTransportEntry, OnChange};
use openfang_types::ids::ServerName;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// What is remembered.
#[derive(Default)]
pub(super) struct Kept {
    /// The era that was found.
    pub(super) era: Option<String>,
    /// How the server was reached; another way is another server.
    place: String,
    /// What every tool that was seen looked like and where it was, by its name.
    approved: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct File {
    era: Option<String>,
    place: String,
    approved: BTreeMap<String, String>,
    manifest: KeptManifest,
}

/// What a look at a server's tools found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Looked {
    /// Tools that are not what they were.
    pub(super) changed: BTreeSet<String>,
    /// Of these, the ones that must not be used.
    pub(super) quarantined: BTreeSet<String>,
}

impl Kept {
    /// Reads what is remembered, and what the server had. A file that cannot be read is as good as none.
    pub(super) fn read(directory: &Path, entry: &McpServerConfigEntry) -> (Self, Option<Manifest>) {
        let text = std::fs::read(path(directory, &entry.name)).ok();
        let Some(file) = text.and_then(|text| serde_json::from_slice::<File>(&text).ok()) else {
            return (Self { place: place_of(entry), ..Self::default() }, None);
        };
        let manifest = (file.place == place_of(entry)).then(|| Manifest::of(&file.manifest));
        (Self { era: file.era, place: file.place, approved: file.approved }, manifest)
    }

    /// Holds what a server has against what is remembered of it. What is seen for the first time is good.
    pub(super) fn look(&mut self, entry: &McpServerConfigEntry, manifest: &Manifest) -> Looked {
        let place = place_of(entry);
        let may_be_new = self.place == place || self.approved.is_empty();
        let mut looked = Looked::default();
        for tool in manifest.tools.entries() {
            let now = mark(&place, &tool.json);
            match self.approved.get(&tool.name) {
                Some(then) if *then == now => continue,
                None if may_be_new => {}
                Some(_) | None => {
                    looked.changed.insert(tool.name.clone());
                    if entry.on_change == OnChange::Quarantine {
                        looked.quarantined.insert(tool.name.clone());
                        continue;
                    }
                }
            }
            self.approved.insert(tool.name.clone(), now);
        }
        if looked.quarantined.is_empty() {
            self.place = place;
        }
        looked
    }

    /// Takes a tool as it is now.
    pub(super) fn approve(&mut self, entry: &McpServerConfigEntry, manifest: &Manifest, tool: &str) {
        let place = place_of(entry);
        if let Some(known) = manifest.tools.get(tool) {
            self.approved.insert(tool.to_owned(), mark(&place, &known.json));
        }
        let mut all = manifest.tools.entries();
        if all.all(|tool| self.approved.get(&tool.name).is_some_and(|then| *then == mark(&place, &tool.json))) {
            self.place = place;
        }
    }

    /// Writes it down, for the next run.
    pub(super) fn write(&self, directory: &Path, name: &ServerName, manifest: &Manifest) -> io::Result<()> {
        let file = File {
            era: self.era.clone(),
            place: self.place.clone(),
            approved: self.approved.clone(),
            manifest: manifest.kept(),
        };
        std::fs::create_dir_all(directory)?;
        let text = serde_json::to_vec(&file)?;
        let path = path(directory, name);
        let beside = path.with_extension("new");
        std::fs::write(&beside, text)?;
        std::fs::rename(beside, path)
    }

    /// Forgets a server.
    pub(super) fn forget(directory: &Path, name: &ServerName) {
        // What is not there need not be removed.
        let _ = std::fs::remove_file(path(directory, name));
    }
}

fn path(directory: &Path, name: &ServerName) -> PathBuf {
    directory.join(format!("{name}.json"))
}

/// What a tool looks like, and where it is: the same words from another program are another tool.
fn mark(place: &str, definition: &RawValue) -> String {
    let mut digest = Sha256::new();
    digest.update(place.as_bytes());
    digest.update(fingerprint(definition));
    hex(&digest.finalize())
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
    hex(&digest.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
