//! The machine of a new user: a home directory with the settings of other programs.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::binary::{Openfang, Ran};

/// Settings as each program has them before OpenFang: with comments, tabs, odd indentation and other entries.
pub(super) const SETTINGS: &[(&str, &str, &str)] = &[
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
    ),
    ("claude-code", ".claude.json", "{\n  \"numStartups\": 3,\n  \"projects\": {}\n}"),
    ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {\"one\": {\"command\": \"line\"}}}"),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\n\t// mine\n\t\"servers\": {\n\t\t\"a\": { \"type\": \"stdio\", \"command\": \"x\" },\n\t},\n}\n",
    ),
    ("vscode-insiders", ".config/Code - Insiders/User/mcp.json", ""),
    ("codex", ".codex/config.toml", "# mine\nmodel = \"o\"\n\n[mcp_servers.a]\ncommand = \"x\"  # kept\n"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "\u{feff}{\n  \"mcpServers\": {}\n}\n"),
    ("devin", ".config/devin/mcp_config.json", "{\r\n  \"mcpServers\": {\r\n  }\r\n}\r\n"),
    ("zed", ".config/zed/settings.json", "// Zed\n{\n  \"theme\": \"One\", // dark\n  \"context_servers\": {},\n}\n"),
    ("copilot", ".copilot/mcp-config.json", "{}"),
    ("antigravity", ".gemini/config/mcp_config.json", "{\n}\n"),
    ("gemini", ".gemini/settings.json", "{\n    \"security\": { \"auth\": { \"selectedType\": \"x\" } }\n}\n"),
    ("opencode", ".config/opencode/opencode.json", "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n"),
    ("cline", ".cline/data/settings/cline_mcp_settings.json", "{\n  \"mcpServers\": {}\n}"),
    ("kiro", ".kiro/settings/mcp.json", "{\"mcpServers\":{}}\n"),
    ("junie", ".junie/mcp/mcp.json", "{ /* nothing */ }\n"),
    ("lm-studio", ".lmstudio/mcp.json", "{\n  \"mcpServers\": {}\n}\n"),
    (
        "amp",
        ".config/amp/settings.json",
        "{\n  \"amp.mcpServers\": {\"x\": {\"command\": \"y\"}},\n  \"amp.x\": 1\n}\n",
    ),
    ("factory", ".factory/mcp.json", "{}\n"),
    ("kimi", ".kimi/mcp.json", "{\n \"mcpServers\" : { }\n}\n"),
    ("qoder", ".qoder/mcp.json", "\n{}\n"),
    ("goose", ".config/goose/config.yaml", "extensions: {}\n"),
    ("continue", ".continue/config.yaml", "name: mine\n"),
];

/// The listen address of a new home, and one that is always free.
const DEFAULT_LISTEN: &str = "127.0.0.1:50051";
pub(super) const ANY_PORT: &str = "127.0.0.1:0";

/// A new user's machine.
pub(super) struct Machine {
    pub(super) openfang: Openfang,
}

impl Machine {
    pub(super) fn new() -> Self {
        let openfang = Openfang::new();
        std::fs::create_dir_all(openfang.scratch("user")).unwrap();
        Self { openfang }
    }

    pub(super) fn user(&self) -> PathBuf {
        self.openfang.scratch("user")
    }

    /// Writes a file of the user.
    pub(super) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.user().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.user().join(path)).unwrap()
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        self.openfang.run_with(("HOME", self.user().to_str().unwrap()), arguments)
    }

    /// Runs `init` on any port: another server may be running on the default one.
    pub(super) fn init(&self, arguments: &[&str]) -> Ran {
        let user = self.user();
        let variables = [("HOME", user.to_str().unwrap()), ("OPENFANG_API_LISTEN", ANY_PORT)];
        let ran = self.openfang.run_with_all(&variables, &[&["init"], arguments].concat());
        self.listen_on(DEFAULT_LISTEN, ANY_PORT);
        ran
    }

    /// Replaces the listen address in the config.
    pub(super) fn listen_on(&self, before: &str, after: &str) {
        let path = self.openfang.home().join("config.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replace(before, after)).unwrap();
    }

    /// Every file of the user and its bytes.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        gather(&self.user(), &mut found);
        found
    }
}

/// Every file below a directory and its bytes.
pub(super) fn gather(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, found);
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

/// A program started as a desktop starts it: with a short PATH, a home directory and nothing else.
pub(super) struct Desktop {
    child: Child,
    reader: BufReader<ChildStdout>,
    id: i64,
}

impl Desktop {
    #[expect(clippy::disallowed_methods, reason = "a test starts a program as an IDE would")]
    pub(super) fn start(user: &Path, command: &str, arguments: &[String]) -> Self {
        let mut command = Command::new(command);
        command.args(arguments).env_clear().env("HOME", user).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let reader = BufReader::new(child.stdout.take().unwrap());
        Self { child, reader, id: 0 }
    }

    /// Sends a request and waits for its answer, passing over everything else.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.reader.read_line(&mut line).unwrap() > 0, "the server ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == self.id && answer.get("method").is_none() {
                return answer;
            }
        }
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}
