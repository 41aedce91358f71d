//! The log as files: `data/log/openfang.jsonl`, rotated by size. A line is written in one piece.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use openfang_kernel::home::create_private_directory;
use openfang_types::limits::{LOG_FILE_BYTES, LOG_FILES};
use tracing_subscriber::fmt::MakeWriter;

/// The log file of a daemon.
pub(crate) struct LogFile {
    path: PathBuf,
    open: Mutex<OpenLog>,
}

struct OpenLog {
    file: File,
    bytes: u64,
}

impl LogFile {
    /// Opens the file of a home, to append to it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        create_private_directory(path.parent().unwrap_or(path))?;
        Ok(Self { path: path.to_owned(), open: Mutex::new(opened(path)?) })
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.bytes > 0 && open.bytes + line.len() as u64 > LOG_FILE_BYTES {
            rotate(&self.path);
            *open = opened(&self.path)?;
        }
        open.file.write_all(line)?;
        open.bytes += line.len() as u64;
        Ok(())
    }
}

fn opened(path: &Path) -> io::Result<OpenLog> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let bytes = file.metadata()?.len();
    Ok(OpenLog { file, bytes })
}

/// Moves every file one further; the last one goes. What cannot be moved stays where it is.
fn rotate(path: &Path) {
    for number in (1..LOG_FILES).rev() {
        let _ = std::fs::rename(numbered(path, number - 1), numbered(path, number));
    }
}

/// The n-th file: the current one, and before it `openfang.jsonl.1` and so on.
pub(crate) fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 0 { path.to_owned() } else { PathBuf::from(format!("{}.{number}", path.display())) }
}

/// A writer of lines to the file.
pub(crate) struct LogFileWriter<'a>(&'a LogFile);

impl Write for LogFileWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.append(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = LogFileWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LogFileWriter(self)
    }
}

#[cfg(test)]
#[path = "log_file_tests.rs"]
mod tests;
