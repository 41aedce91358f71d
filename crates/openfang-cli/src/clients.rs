//! The programs that use MCP servers, as one table: where each keeps its settings, and what an entry looks like there.
//!
//! `mcp import`, `connect` and `doctor` read this table. `places` turns its rows into paths on this machine, `form` writes
//! entries. Paths and forms follow the vendors' documentation of November 2026.

pub(crate) use form::{Entry, Form};
pub(crate) use places::{Source, Target, is_installed, places, source_of_file, targets};

mod form;
mod places;
mod table;

/// A program that has MCP servers in its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
    VsCodeInsiders,
    Codex,
    Windsurf,
    Devin,
    Zed,
    Copilot,
    Antigravity,
    Gemini,
    OpenCode,
    Cline,
    Kiro,
    Junie,
    LmStudio,
    Amp,
    Factory,
    Kimi,
    Qoder,
    Goose,
    Continue,
    /// A file named with `--from`.
    File,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct ClientRow {
    pub(crate) client: Client,
    /// The name on the command line.
    pub(crate) word: &'static str,
    pub(crate) title: &'static str,
    /// The settings of the user, first choice first.
    user: &'static [Location],
    /// The settings of a project, relative to its directory.
    project: &'static [&'static str],
    pub(crate) form: Form,
    /// How the program notices a change of its settings.
    pub(crate) notices: &'static str,
}

/// A file of the user.
#[derive(Debug)]
struct Location {
    base: Base,
    rest: &'static str,
    /// An earlier place of the file: it is written only where it exists.
    is_earlier: bool,
}

/// A directory that the environment names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Home,
    /// The directory `$XDG_CONFIG_HOME`, else `~/.config`.
    Config,
    /// The directory `~/Library/Application Support` on macOS.
    Library,
    /// The directory `%APPDATA%` on Windows.
    Roaming,
    /// The directory `$CODEX_HOME`, else `~/.codex`.
    Codex,
}

impl Client {
    /// The row of the table, or none for a file that was named.
    pub(crate) fn row(self) -> Option<&'static ClientRow> {
        table::ROWS.iter().find(|row| row.client == self)
    }

    pub(crate) fn rows() -> &'static [ClientRow] {
        table::ROWS
    }

    /// The name on the command line.
    pub(crate) fn word(self) -> &'static str {
        self.row().map_or("file", |row| row.word)
    }

    /// The display name of the program.
    pub(crate) fn title(self) -> &'static str {
        self.row().map_or("File", |row| row.title)
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        table::ROWS.iter().find(|row| row.word == word).map(|row| row.client)
    }

    /// All names on the command line, in the order of the table.
    pub(crate) fn words() -> String {
        table::ROWS.iter().map(|row| row.word).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;
