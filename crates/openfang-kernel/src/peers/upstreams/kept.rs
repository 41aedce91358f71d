//! What is remembered of a server between two runs, in a file of its own: what it has, which era it speaks, and what each
//! of its tools looked like when it was first seen or last approved.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_mcp::client::{KeptManifest, Manifest};
use openfang_mcp::listing::Entry;
use openfang_types::config::{McpServerConfigEntry, McpTransportEntry, NewTools, OnChange};
use openfang_types::ids::ServerName;
use openfang_types::limits::MCP_KEPT_DEFINITION_BYTES;
use openfang_types::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
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
    /// What changed tools looked like when they were accepted, by their names.
    before: BTreeMap<String, String>,
    /// Changed tools that are used and that nobody has accepted, as they were when that was told.
    told: BTreeMap<String, Fingerprint>,
}

#[derive(Deserialize)]
struct File<'a> {
    era: Option<String>,
    place: String,
    approved: Approved,
    #[serde(default)]
    before: BTreeMap<String, String>,
    #[serde(default)]
    told: BTreeMap<String, Fingerprint>,
    #[serde(borrow)]
    manifest: KeptManifest<'a>,
}

/// A [`File`] to be written.
#[derive(Serialize)]
struct Written<'a> {
    era: Option<&'a str>,
    place: &'a str,
    approved: &'a Approved,
    before: &'a BTreeMap<String, String>,
    told: &'a BTreeMap<String, Fingerprint>,
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
        let File { era, place, approved, before, told, .. } = file;
        (Self { era, place, approved: Arc::new(approved), before, told }, manifest)
    }

    /// Holds what a server has against what is remembered of it. What is seen for the first time is good.
    pub(super) fn look(&mut self, entry: &McpServerConfigEntry, manifest: &Manifest) -> Looked {
        let place = place_of(entry);
        let may_be_new = self.place == place || self.approved.is_empty();
        // What a server has at first is good.
        let holds_new = entry.new_tools == NewTools::Hold && !self.approved.is_empty();
        let (is_same_place, mut told) = (self.place == place, BTreeMap::new());
        let (mut looked, mut seen) = (Looked::default(), Vec::with_capacity(manifest.tools.entries().len()));
        for tool in manifest.tools.entries() {
            let now = Fingerprint::of(&place, tool);
            match self.approved.get(tool.name()) {
                Some(then) if *then == now => continue,
                // It is used, in the words that were accepted. An operator who changed the entry has seen to that one.
                Some(_) if is_same_place && entry.on_change == OnChange::Warn => {
                    if self.told.get(tool.name()) != Some(&now) {
                        looked.changed.insert(tool.name().to_owned());
                    }
                    told.insert(tool.name().to_owned(), now);
                    continue;
                }
                None if may_be_new && holds_new => {
                    looked.changed.insert(tool.name().to_owned());
                    looked.quarantined.insert(tool.name().to_owned());
                    continue;
                }
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
        self.told = told;
        self.approve_all(&seen);
        if looked.quarantined.is_empty() {
            self.place = place;
        }
        looked
    }

    /// Keeps what tools that wait looked like when they were accepted, from what the server had before.
    pub(super) fn keep_definitions(
        &mut self,
        entry: &McpServerConfigEntry,
        had: &Manifest,
        waiting: &BTreeSet<String>,
    ) {
        let place = place_of(entry);
        self.before.retain(|tool, _| waiting.contains(tool));
        for tool in waiting {
            let Some(known) = had.tools.get(tool) else { continue };
            let text = known.json();
            if self.approved.get(tool) == Some(&Fingerprint::of(&place, known))
                && text.len() <= MCP_KEPT_DEFINITION_BYTES
            {
                self.before.insert(tool.clone(), text.into_owned());
            }
        }
    }

    /// Changed tools that are used, and that nobody has accepted.
    pub(super) fn unaccepted(&self) -> impl Iterator<Item = &String> {
        self.told.keys()
    }

    /// A tool as models are offered it: until somebody accepts a change, as it was. None if that is not known.
    pub(super) fn as_accepted(&self, tool: &Entry) -> Option<Entry> {
        if !self.told.contains_key(tool.name()) {
            return Some(tool.clone());
        }
        let before = RawValue::from_string(self.definition_before(tool.name())?.to_owned()).ok()?;
        Some(Entry::new(tool.name(), before))
    }

    /// Whether a tool was never accepted.
    pub(super) fn is_new(&self, tool: &str) -> bool {
        self.approved.get(tool).is_none()
    }

    /// What a changed tool looked like when it was accepted, if that is known.
    pub(super) fn definition_before(&self, tool: &str) -> Option<&str> {
        self.before.get(tool).map(String::as_str)
    }

    /// The tools that were accepted and are gone.
    pub(super) fn removed(&self, manifest: &Manifest) -> Vec<String> {
        let gone = self.approved.names().filter(|tool| manifest.tools.get(tool).is_none());
        gone.map(str::to_owned).collect()
    }

    /// Forgets the tools that are gone.
    pub(super) fn forget_removed(&mut self, manifest: &Manifest) {
        self.approved = Arc::new(self.approved.only(|tool| manifest.tools.get(tool).is_some()));
    }

    /// Takes a tool as it is now.
    pub(super) fn approve(&mut self, entry: &McpServerConfigEntry, manifest: &Manifest, tool: &str) {
        let place = place_of(entry);
        if let Some(known) = manifest.tools.get(tool) {
            self.approve_all(&[(tool, Fingerprint::of(&place, known))]);
        }
        self.before.remove(tool);
        self.told.remove(tool);
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
        let written = Written {
            era: self.era.as_deref(),
            place: &self.place,
            approved: &self.approved,
            before: &self.before,
            told: &self.told,
            manifest,
        };
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
