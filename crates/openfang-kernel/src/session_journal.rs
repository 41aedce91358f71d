//! Which MCP sessions were ended, in a file of the home: a line each, of when its id expires, which it is, and whose.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_mcp::host::{EndedSession, JournalFuture, SessionJournal};

use crate::settings::home::create_private_file;

pub(crate) struct SessionFile {
    path: Arc<Path>,
}

impl SessionFile {
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.into() }
    }

    fn write(&self, work: impl FnOnce(&Path) -> io::Result<()> + Send + 'static) -> JournalFuture<'_> {
        let path = Arc::clone(&self.path);
        Box::pin(async move {
            let written = tokio::task::spawn_blocking(move || work(&path)).await;
            if let Err(error) = written.map_err(io::Error::other).flatten() {
                tracing::warn!(%error, "an MCP session that was ended can be used again after a restart");
            }
        })
    }
}

impl SessionJournal for SessionFile {
    fn read(&self) -> Vec<EndedSession> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                tracing::warn!(%error, "MCP sessions that were ended before this start can be used again");
                return Vec::new();
            }
        };
        text.lines().filter_map(parse).collect()
    }

    fn add(&self, ended: EndedSession) -> JournalFuture<'_> {
        self.write(move |path| {
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(path)?.write_all(line(&ended).as_bytes())
        })
    }

    fn replace(&self, all: Vec<EndedSession>) -> JournalFuture<'_> {
        self.write(move |path| {
            let beside: PathBuf = path.with_extension("new");
            // One that a crash left behind.
            drop(fs::remove_file(&beside));
            let text: String = all.iter().map(line).collect();
            create_private_file(&beside)?.write_all(text.as_bytes())?;
            fs::rename(&beside, path)
        })
    }
}

/// It begins with its line break: after a line that was cut off it is a line of its own all the same.
fn line(ended: &EndedSession) -> String {
    let nonce = ended
        .nonce
        .map_or_else(|| "-".to_owned(), |nonce| format!("{:032x}", u128::from_be_bytes(nonce)));
    format!("\n{} {nonce} {}", ended.expiry, ended.owner)
}

/// A line that was cut off by a crash is none.
fn parse(line: &str) -> Option<EndedSession> {
    let (expiry, rest) = line.split_once(' ')?;
    let (nonce, owner) = rest.split_once(' ')?;
    let nonce = match nonce {
        "-" => None,
        hex => Some(u128::from_str_radix(hex, 16).ok()?.to_be_bytes()),
    };
    Some(EndedSession { owner: owner.to_owned(), nonce, expiry: expiry.parse().ok()? })
}

#[cfg(test)]
#[path = "session_journal_tests.rs"]
mod tests;
