//! What `connect` wrote where, in `connect/ledger.json` of the home, so that it can be undone to the byte. Backups of the
//! files as they were lie beside it. Both are readable for their owner alone, because settings contain tokens.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use openfang_kernel::home::{Home, create_private_directory, create_private_file};
use openfang_types::limits::CONNECT_BACKUP_AGE;
use serde::{Deserialize, Serialize};

/// An entry that was written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) client: String,
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    /// The keys that lead to the entry.
    pub(crate) keys: Vec<String>,
    /// How many of them are ours.
    pub(crate) created: usize,
    /// The digest of the entry.
    pub(crate) entry: String,
    /// The digest of the file after it was written.
    pub(crate) after: String,
    /// The file as it was, or none if it did not exist.
    pub(crate) backup: Option<PathBuf>,
    /// Whether the backup is the file without any entry of ours, so that undo may restore it.
    pub(crate) is_restorable: bool,
    /// Directories that were made for the file, deepest first.
    pub(crate) made: Vec<PathBuf>,
    /// The key that was created for this client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) at: String,
}

/// The records of a home.
pub(crate) struct Ledger {
    directory: PathBuf,
    pub(crate) records: Vec<Record>,
}

#[derive(Serialize, Deserialize)]
struct LedgerFile {
    records: Vec<Record>,
}

impl Ledger {
    /// Reads the ledger of a home. A missing one is empty, and an unreadable one is an error.
    pub(crate) fn open(home: &Home) -> io::Result<Self> {
        let directory = home.root().join("connect");
        let records = match std::fs::read(directory.join("ledger.json")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
            Ok(bytes) => serde_json::from_slice::<LedgerFile>(&bytes).map_err(io::Error::from)?.records,
        };
        Ok(Self { directory, records })
    }

    pub(crate) fn find(&self, path: &Path, name: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.path == path && record.name == name)
    }

    /// Copies a text to a backup file and returns its path.
    pub(crate) fn back_up(&self, client: &str, at: &str, text: &str) -> io::Result<PathBuf> {
        let directory = self.directory.join(client);
        create_private_directory(&directory)?;
        let stamp: String = at.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let names = (0..).map(|number: u32| directory.join(format!("{stamp}-{number}.bak")));
        for path in names.take(usize::from(u8::MAX)) {
            match create_private_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(mut file) => {
                    file.write_all(text.as_bytes())?;
                    file.sync_all()?;
                    return Ok(path);
                }
            }
        }
        Err(io::Error::other("too many backups of the same second"))
    }

    /// Deletes backups that nobody needs any more: they contain tokens in clear. Undo then takes out only the entry.
    pub(crate) fn prune(&mut self, now: SystemTime) -> io::Result<()> {
        let mut gone = Vec::new();
        for directory in entries(&self.directory)?.into_iter().filter(|path| path.is_dir()) {
            for path in entries(&directory)?
                .into_iter()
                .filter(|path| path.extension().is_some_and(|end| end == "bak"))
            {
                let age = path.metadata()?.modified().ok().and_then(|at| now.duration_since(at).ok());
                if age.is_some_and(|age| age > CONNECT_BACKUP_AGE) {
                    std::fs::remove_file(&path)?;
                    gone.push(path);
                }
            }
        }
        if gone.is_empty() {
            return Ok(());
        }
        for record in &mut self.records {
            if record.backup.as_ref().is_some_and(|backup| gone.contains(backup)) {
                (record.backup, record.is_restorable) = (None, false);
            }
        }
        self.write()
    }

    /// Adds a record in the place of an earlier one for the same entry, and writes the ledger.
    pub(crate) fn add(&mut self, record: Record) -> io::Result<()> {
        self.records.retain(|held| (&held.path, &held.name) != (&record.path, &record.name));
        self.records.push(record);
        self.write()
    }

    /// Removes a record and its backup, and writes the ledger.
    pub(crate) fn remove(&mut self, record: &Record) -> io::Result<()> {
        self.records.retain(|held| held != record);
        self.write()?;
        record.backup.as_deref().map_or(Ok(()), std::fs::remove_file)
    }

    fn write(&self) -> io::Result<()> {
        create_private_directory(&self.directory)?;
        let path = self.directory.join("ledger.json");
        let beside = self.directory.join(format!("ledger.json.{}.new", std::process::id()));
        let mut bytes = serde_json::to_vec_pretty(&LedgerFile { records: self.records.clone() })?;
        bytes.push(b'\n');
        let _ = std::fs::remove_file(&beside);
        let mut file = create_private_file(&beside)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, &path)
    }
}

/// What lies in a directory. One that is not there has nothing in it.
fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(found) => found.map(|entry| Ok(entry?.path())).collect(),
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
