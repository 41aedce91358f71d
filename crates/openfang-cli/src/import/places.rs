//! The programs to import from, and the paths of their settings: of the user and of a project, on Linux, macOS and Windows.
//! A missing file is not an error.

use std::path::{Path, PathBuf};

use openfang_kernel::config_file::Directories;

use super::project_of;

/// A program that has MCP servers in its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
    Codex,
    Windsurf,
    Zed,
    /// A file named with `--from`.
    File,
}

impl Client {
    /// The programs that are searched by default.
    pub(crate) const ALL: [Self; 7] =
        [Self::ClaudeDesktop, Self::ClaudeCode, Self::Cursor, Self::VsCode, Self::Codex, Self::Windsurf, Self::Zed];

    /// The value for `--from`.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::File => "file",
        }
    }

    /// The display name of the program.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::File => "File",
        }
    }
}

/// A settings file of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) client: Client,
    pub(crate) path: PathBuf,
    /// The project of the file, or `None` for the user's own file.
    pub(crate) project: Option<PathBuf>,
}

/// The settings files to read, in order of precedence.
pub(crate) fn places(directories: &Directories, here: Option<&Path>) -> Vec<Source> {
    let mut found: Vec<Source> = Vec::new();
    let mut add = |client, path: Option<PathBuf>, project: Option<&Path>| {
        if let Some(path) = path.filter(|path| !found.iter().any(|held| held.path == *path)) {
            found.push(Source { client, path, project: project.map(Path::to_owned) });
        }
    };
    let Directories { home, config, roaming, codex } = directories;
    let below = |directory: &Option<PathBuf>, rest: &str| directory.as_ref().map(|held| held.join(rest));
    let library = below(home, "Library/Application Support");
    for settings in [config, &library, roaming] {
        add(Client::ClaudeDesktop, below(settings, "Claude/claude_desktop_config.json"), None);
    }
    // The user's file also has the servers of single projects; those of this directory are taken.
    add(Client::ClaudeCode, below(home, ".claude.json"), here);
    add(Client::Cursor, below(home, ".cursor/mcp.json"), None);
    for settings in [config, &library, roaming] {
        for name in ["Code", "Code - Insiders"] {
            add(Client::VsCode, below(settings, &format!("{name}/User/mcp.json")), None);
        }
    }
    add(Client::Codex, below(codex, "config.toml"), None);
    add(Client::Windsurf, below(home, ".codeium/windsurf/mcp_config.json"), None);
    for settings in [config, &below(home, ".config")] {
        add(Client::Zed, below(settings, "zed/settings.json"), None);
    }
    add(Client::Zed, below(roaming, "Zed/settings.json"), None);
    let of_project = [
        (Client::ClaudeCode, ".mcp.json"),
        (Client::Cursor, ".cursor/mcp.json"),
        (Client::VsCode, ".vscode/mcp.json"),
        (Client::Codex, ".codex/config.toml"),
        (Client::Zed, ".zed/settings.json"),
    ];
    for (client, path) in of_project {
        add(client, here.map(|here| here.join(path)), here);
    }
    found
}

/// A file named with `--from`, as a source.
pub(crate) fn source_of_file(path: &Path) -> Source {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Source { client: Client::File, project: project_of(&path), path }
}
