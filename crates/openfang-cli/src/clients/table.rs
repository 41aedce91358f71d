//! The table of clients.

use super::form::{Form, Remote, Snippet, Stdio};
use super::{Base, Client, ClientRow, Location};

const fn at(base: Base, rest: &'static str) -> Location {
    Location { base, rest, is_earlier: false }
}

const fn earlier(base: Base, rest: &'static str) -> Location {
    Location { base, rest, is_earlier: true }
}

const fn json(keys: &'static [&'static str], stdio: Stdio, remote: Remote) -> Form {
    Form::Json { keys, stdio, remote }
}

/// The form that most programs share.
const USUAL: Form = json(&["mcpServers"], Stdio::Plain, Remote::Url);
const RESTART: &str = "quit it completely and start it again";
const NEXT_SESSION: &str = "it is used from the next session on";
const AT_ONCE: &str = "it notices the change by itself; switch the server on in its MCP settings if it asks";

pub(super) const ROWS: &[ClientRow] = &[
    ClientRow {
        client: Client::ClaudeDesktop,
        word: "claude-desktop",
        title: "Claude Desktop",
        user: &[
            at(Base::Config, "Claude/claude_desktop_config.json"),
            at(Base::Library, "Claude/claude_desktop_config.json"),
            at(Base::Roaming, "Claude/claude_desktop_config.json"),
        ],
        project: &[],
        form: json(&["mcpServers"], Stdio::Plain, Remote::Unsupported),
        notices: RESTART,
    },
    ClientRow {
        client: Client::ClaudeCode,
        word: "claude-code",
        title: "Claude Code",
        user: &[at(Base::Home, ".claude.json")],
        project: &[".mcp.json"],
        form: json(&["mcpServers"], Stdio::Typed, Remote::TypedHttp),
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::Cursor,
        word: "cursor",
        title: "Cursor",
        user: &[at(Base::Home, ".cursor/mcp.json")],
        project: &[".cursor/mcp.json"],
        form: USUAL,
        notices: AT_ONCE,
    },
    ClientRow {
        client: Client::VsCode,
        word: "vscode",
        title: "VS Code",
        user: &[
            at(Base::Config, "Code/User/mcp.json"),
            at(Base::Library, "Code/User/mcp.json"),
            at(Base::Roaming, "Code/User/mcp.json"),
            earlier(Base::Home, ".vscode-server/data/User/mcp.json"),
        ],
        project: &[".vscode/mcp.json"],
        form: json(&["servers"], Stdio::Typed, Remote::TypedHttp),
        notices: "run \"MCP: List Servers\" and start it there",
    },
    ClientRow {
        client: Client::VsCodeInsiders,
        word: "vscode-insiders",
        title: "VS Code Insiders",
        user: &[
            at(Base::Config, "Code - Insiders/User/mcp.json"),
            at(Base::Library, "Code - Insiders/User/mcp.json"),
            at(Base::Roaming, "Code - Insiders/User/mcp.json"),
        ],
        project: &[".vscode/mcp.json"],
        form: json(&["servers"], Stdio::Typed, Remote::TypedHttp),
        notices: "run \"MCP: List Servers\" and start it there",
    },
    ClientRow {
        client: Client::Codex,
        word: "codex",
        title: "Codex",
        user: &[at(Base::Codex, "config.toml")],
        project: &[".codex/config.toml"],
        form: Form::CodexToml,
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::Windsurf,
        word: "windsurf",
        title: "Windsurf",
        user: &[at(Base::Home, ".codeium/windsurf/mcp_config.json")],
        project: &[],
        form: json(&["mcpServers"], Stdio::Plain, Remote::ServerUrl),
        notices: "refresh the list of servers in its MCP settings",
    },
    ClientRow {
        client: Client::Devin,
        word: "devin",
        title: "Devin Desktop",
        user: &[at(Base::Config, "devin/mcp_config.json"), at(Base::Roaming, "devin/mcp_config.json")],
        project: &[".devin/mcp_config.json"],
        form: USUAL,
        notices: "refresh the list of servers in its MCP settings",
    },
    ClientRow {
        client: Client::Zed,
        word: "zed",
        title: "Zed",
        user: &[
            at(Base::Config, "zed/settings.json"),
            earlier(Base::Home, ".config/zed/settings.json"),
            at(Base::Roaming, "Zed/settings.json"),
        ],
        project: &[".zed/settings.json"],
        form: json(&["context_servers"], Stdio::Plain, Remote::Url),
        notices: AT_ONCE,
    },
    ClientRow {
        client: Client::Copilot,
        word: "copilot",
        title: "Copilot CLI",
        user: &[at(Base::Home, ".copilot/mcp-config.json")],
        project: &[".mcp.json"],
        form: json(&["mcpServers"], Stdio::Local, Remote::HttpWithTools),
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::Antigravity,
        word: "antigravity",
        title: "Antigravity",
        user: &[
            at(Base::Home, ".gemini/config/mcp_config.json"),
            earlier(Base::Home, ".gemini/antigravity/mcp_config.json"),
            earlier(Base::Home, ".gemini/antigravity-cli/mcp_config.json"),
        ],
        project: &[".agents/mcp_config.json"],
        form: json(&["mcpServers"], Stdio::Plain, Remote::ServerUrl),
        notices: "refresh the list of servers in its MCP settings",
    },
    ClientRow {
        client: Client::Gemini,
        word: "gemini",
        title: "Gemini CLI",
        user: &[at(Base::Home, ".gemini/settings.json")],
        project: &[".gemini/settings.json"],
        form: json(&["mcpServers"], Stdio::Plain, Remote::HttpUrl),
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::OpenCode,
        word: "opencode",
        title: "opencode",
        user: &[at(Base::Config, "opencode/opencode.json"), earlier(Base::Config, "opencode/opencode.jsonc")],
        project: &["opencode.json", "opencode.jsonc"],
        form: json(&["mcp"], Stdio::CommandList, Remote::Typed),
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::Cline,
        word: "cline",
        title: "Cline",
        user: &[
            at(Base::Home, ".cline/data/settings/cline_mcp_settings.json"),
            earlier(Base::Config, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            earlier(Base::Library, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            earlier(Base::Roaming, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
        ],
        project: &[],
        form: json(&["mcpServers"], Stdio::WithDisabled, Remote::StreamableHttp),
        notices: AT_ONCE,
    },
    ClientRow {
        client: Client::Kiro,
        word: "kiro",
        title: "Kiro",
        user: &[at(Base::Home, ".kiro/settings/mcp.json")],
        project: &[".kiro/settings/mcp.json"],
        form: USUAL,
        notices: AT_ONCE,
    },
    ClientRow {
        client: Client::Junie,
        word: "junie",
        title: "Junie",
        user: &[at(Base::Home, ".junie/mcp/mcp.json")],
        project: &[".junie/mcp/mcp.json"],
        form: USUAL,
        notices: RESTART,
    },
    ClientRow {
        client: Client::LmStudio,
        word: "lm-studio",
        title: "LM Studio",
        user: &[at(Base::Home, ".lmstudio/mcp.json")],
        project: &[],
        form: USUAL,
        notices: AT_ONCE,
    },
    ClientRow {
        client: Client::Amp,
        word: "amp",
        title: "Amp",
        user: &[at(Base::Config, "amp/settings.json")],
        project: &[".amp/settings.json"],
        form: json(&["amp.mcpServers"], Stdio::Plain, Remote::Url),
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::Factory,
        word: "factory",
        title: "Factory",
        user: &[at(Base::Home, ".factory/mcp.json")],
        project: &[],
        form: USUAL,
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::Kimi,
        word: "kimi",
        title: "Kimi CLI",
        user: &[at(Base::Home, ".kimi/mcp.json")],
        project: &[],
        form: USUAL,
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::Qoder,
        word: "qoder",
        title: "Qoder",
        user: &[at(Base::Home, ".qoder/mcp.json")],
        project: &[],
        form: USUAL,
        notices: AT_ONCE,
    },
    ClientRow {
        client: Client::Goose,
        word: "goose",
        title: "goose",
        user: &[at(Base::Config, "goose/config.yaml"), at(Base::Roaming, "Block/goose/config/config.yaml")],
        project: &[],
        form: Form::Print(Snippet::Goose),
        notices: NEXT_SESSION,
    },
    ClientRow {
        client: Client::Continue,
        word: "continue",
        title: "Continue",
        user: &[at(Base::Home, ".continue/config.yaml")],
        project: &[],
        form: Form::Print(Snippet::Continue),
        notices: AT_ONCE,
    },
];
