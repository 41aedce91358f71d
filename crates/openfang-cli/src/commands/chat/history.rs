//! The history of lines, in a file of the home that only its owner can read. What is typed into forms and approvals is no
//! part of it, nor is a line that begins with a space.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use openfang_kernel::home::Home;
use openfang_types::limits::{CHAT_HISTORY_BYTES, CHAT_HISTORY_LINE_BYTES, CHAT_HISTORY_LINES};

/// The file of the history.
#[derive(Debug, Clone)]
pub(super) struct ChatHistory {
    path: PathBuf,
}

impl ChatHistory {
    /// The history of a home. Without a home nothing is kept.
    pub(super) fn of(home: &Home) -> Option<Self> {
        let data = home.root().join("data");
        data.is_dir().then(|| Self { path: data.join("chat-history") })
    }

    /// The lines, oldest first. A file that grew too long is cut to its end.
    pub(super) fn load(&self) -> Vec<String> {
        let lines = self.read().unwrap_or_default();
        if lines.len() > CHAT_HISTORY_LINES {
            let kept = lines[lines.len() - CHAT_HISTORY_LINES..].to_vec();
            let text: String = kept.iter().map(|line| entry(line)).collect();
            if let Err(error) = openfang_kernel::home::replace_private_file(&self.path, text.as_bytes()) {
                tracing::debug!(%error, "the history of the chat was not cut");
            }
            return kept;
        }
        lines
    }

    fn read(&self) -> io::Result<Vec<String>> {
        let mut file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(CHAT_HISTORY_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(CHAT_HISTORY_BYTES).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        // A line that is cut is no JSON string, and is left out.
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Adds a line that was typed, unless it is too long.
    pub(super) fn add(&self, line: &str) {
        if line.len() > CHAT_HISTORY_LINE_BYTES {
            return;
        }
        let written = private(&self.path).and_then(|mut file| file.write_all(entry(line).as_bytes()));
        if let Err(error) = written {
            tracing::debug!(%error, "a line was not added to the history of the chat");
        }
    }
}

/// A line of the file: a JSON string, because a message may have several lines.
fn entry(line: &str) -> String {
    format!("{}\n", serde_json::Value::from(line))
}

fn private(path: &PathBuf) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
