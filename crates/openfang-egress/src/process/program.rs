//! Resolves a command to a file. The search happens once, in the child's own PATH, and gives an absolute path.
//!
//! Refused: `..`, NUL, an empty command, a missing file, a file that is not executable, and a file that is neither a
//! binary nor a script with a `#!` line. The C library would pass such a file to a shell.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
}

/// Why a command is not a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It is empty, or has a NUL.
    #[error("the command is empty or has a NUL in it; name a program")]
    NoName,
    #[error("the command `{command}` contains `..`; write the path without it")]
    Climbs { command: String },
    /// The command is in none of the directories.
    #[error("no program `{command}`: looked in {}{}", places(searched), hint(command))]
    NotFound {
        command: String,
        /// The directories that were searched, in order.
        searched: Vec<Searched>,
    },
    /// A file with that name exists but cannot be executed.
    #[error("{path} cannot be run: it is {fault}", path = path.display())]
    NotRunnable {
        path: PathBuf,
        /// What is wrong with the file.
        fault: &'static str,
    },
}

/// A directory that was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    pub place: PathBuf,
    /// Why it cannot contain the program, if that is the case.
    pub note: Option<&'static str>,
}

const A_DIRECTORY: &str = "a directory";
const NO_FILE: &str = "not a file";
const NOT_EXECUTABLE: &str = "not executable (see chmod +x)";
const NO_PROGRAM: &str =
    "neither a binary of this system nor a script that begins with #!; name what runs it as the command";

impl Program {
    /// Resolves a command. An absolute path stays as it is, a path with a slash is relative to the directory, and a
    /// name is searched in `path`. Relative entries of `path` are skipped, because their meaning would depend on the
    /// child's working directory.
    pub fn resolve(command: &str, path: &OsStr, directory: &Path) -> Result<Self, ProgramError> {
        if command.is_empty() || command.contains('\0') {
            return Err(ProgramError::NoName);
        }
        if command.contains("..") {
            return Err(ProgramError::Climbs { command: command.to_owned() });
        }
        if command.contains('/') {
            return Self::at(command, directory.join(command));
        }
        Self::in_path(command, path)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name, for logs.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn at(command: &str, path: PathBuf) -> Result<Self, ProgramError> {
        match fault(&path) {
            Fault::Runs => Ok(Self { path }),
            Fault::Missing => {
                let searched = vec![Searched { place: path, note: None }];
                Err(ProgramError::NotFound { command: command.to_owned(), searched })
            }
            Fault::Is(fault) => Err(ProgramError::NotRunnable { path, fault }),
        }
    }

    fn in_path(command: &str, path: &OsStr) -> Result<Self, ProgramError> {
        let mut searched = Vec::new();
        let mut nearly = None;
        for place in std::env::split_paths(path) {
            if !place.is_absolute() {
                searched.push(Searched { place, note: Some("not absolute, left out") });
                continue;
            }
            let candidate = place.join(command);
            match fault(&candidate) {
                Fault::Runs => return Ok(Self { path: candidate }),
                Fault::Missing => {
                    let note = (!place.is_dir()).then_some("does not exist");
                    searched.push(Searched { place, note });
                }
                Fault::Is(fault) => nearly = nearly.or(Some(ProgramError::NotRunnable { path: candidate, fault })),
            }
        }
        Err(nearly.unwrap_or(ProgramError::NotFound { command: command.to_owned(), searched }))
    }
}

enum Fault {
    Runs,
    Missing,
    Is(&'static str),
}

fn fault(path: &Path) -> Fault {
    let Ok(found) = path.metadata() else { return Fault::Missing };
    if found.is_dir() {
        return Fault::Is(A_DIRECTORY);
    }
    if !found.is_file() {
        return Fault::Is(NO_FILE);
    }
    if !is_executable(&found) {
        return Fault::Is(NOT_EXECUTABLE);
    }
    if is_neither_binary_nor_script(path) { Fault::Is(NO_PROGRAM) } else { Fault::Runs }
}

#[cfg(unix)]
fn is_executable(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

/// A file that can be executed but not read is left to the system.
#[cfg(target_os = "linux")]
fn is_neither_binary_nor_script(path: &Path) -> bool {
    let Some(start) = beginning(path, 4) else { return false };
    !start.starts_with(b"#!") && start != b"\x7fELF"
}

#[cfg(not(target_os = "linux"))]
fn is_neither_binary_nor_script(_: &Path) -> bool {
    false
}

/// The interpreter of a script, by its first line. For a binary it is the loader.
#[cfg(unix)]
pub(super) fn interpreter(path: &Path) -> String {
    const FIRST_LINE: u64 = 256;
    let start = beginning(path, FIRST_LINE).unwrap_or_default();
    let line = String::from_utf8_lossy(&start);
    let named = line.strip_prefix("#!").and_then(|rest| rest.split_whitespace().next());
    named.map_or_else(|| "(the loader of this kind of binary)".to_owned(), |name| format!("`{name}`"))
}

#[cfg(unix)]
fn beginning(path: &Path, bytes: u64) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut start = Vec::new();
    std::fs::File::open(path).ok()?.take(bytes).read_to_end(&mut start).ok()?;
    Some(start)
}

fn places(searched: &[Searched]) -> String {
    if searched.is_empty() {
        return "no place, since PATH is empty".to_owned();
    }
    let place = |searched: &Searched| match searched.note {
        Some(note) => format!("{} ({note})", searched.place.display()),
        None => searched.place.display().to_string(),
    };
    searched.iter().map(place).collect::<Vec<_>>().join(", ")
}

/// A hint for programs that are often missing.
fn hint(command: &str) -> &'static str {
    match command.rsplit('/').next().unwrap_or(command) {
        "npx" | "npm" | "node" => "; install Node.js (https://nodejs.org)",
        "uvx" | "uv" => "; install uv (https://docs.astral.sh/uv)",
        "python" | "python3" | "pip" | "pipx" => "; install Python 3 (https://www.python.org)",
        "docker" => "; install Docker (https://docs.docker.com/get-docker)",
        "bun" | "bunx" => "; install Bun (https://bun.sh)",
        "deno" => "; install Deno (https://deno.com)",
        _ => "; install it, or give its absolute path",
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
