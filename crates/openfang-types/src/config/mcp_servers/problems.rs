//! What is wrong with entries of MCP servers, where the types cannot tell.

use std::collections::HashSet;
use std::path::Path;

use super::{McpSandbox, McpServerConfigEntry, McpTransportEntry};
use crate::config::ConfigProblem;
use crate::config::secret_refs::secret_references;
use crate::limits::{MCP_SERVERS, MCP_TOOL_PATTERNS};

/// The problems that the types cannot detect, each with its key path.
pub(in crate::config) fn problems(servers: &[McpServerConfigEntry]) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut say = |index: usize, key: &str, why: String| {
        problems.push(ConfigProblem { key: format!("mcp_servers[{index}].{key}"), why });
    };
    let mut names = HashSet::new();
    for (index, server) in servers.iter().enumerate() {
        if !names.insert(&server.name) {
            say(index, "name", format!("a server {} already exists", server.name));
        }
        for (key, seconds) in
            [("timeout_secs", server.timeout_secs), ("startup_timeout_secs", server.startup_timeout_secs)]
        {
            if !(1..=86_400).contains(&seconds) {
                say(index, key, "must be between 1 second and a day".to_owned());
            }
        }
        if server.env.iter().any(|entry| entry.name().contains('*')) {
            say(index, "env", "`*` would pass on every secret of this process; list the names".to_owned());
        }
        for (key, patterns) in [("tools.include", &server.tools.include), ("tools.exclude", &server.tools.exclude)] {
            if patterns.len() > MCP_TOOL_PATTERNS {
                say(index, key, format!("has more than {MCP_TOOL_PATTERNS} patterns"));
            }
        }
        if let Some(cwd) = &server.cwd
            && !Path::new(cwd).is_absolute()
            && !cwd.starts_with("${")
        {
            say(index, "cwd", format!("{cwd:?} is not an absolute path; write one such as /srv/projects"));
        }
        if let Some(path) = server.sandbox.as_ref().and_then(McpSandbox::relative_path) {
            say(
                index,
                "sandbox",
                format!("{:?} is not an absolute path; write one such as /srv/projects", path.display()),
            );
        }
        match &server.transport {
            McpTransportEntry::Stdio { command, .. } if command.trim().is_empty() => {
                say(index, "transport.command", "is empty; name a program, such as npx".to_owned());
            }
            McpTransportEntry::Stdio { command, args } => {
                let words = [command].into_iter().chain(args).chain(&server.cwd).map(String::as_str);
                if let Some(secret) = secret_references(words).first() {
                    let why = format!(
                        "${{secret:{secret}}} would show the secret in the list of processes; pass it in env, as NAME=${{secret:{secret}}}"
                    );
                    say(index, "transport.args", why);
                }
            }
            McpTransportEntry::Sse { url, .. } | McpTransportEntry::Http { url, .. } => {
                if !server.env.is_empty() {
                    say(index, "env", "is for servers of type stdio; a URL takes headers".to_owned());
                }
                if server.cwd.is_some() {
                    say(index, "cwd", "is for servers of type stdio; remove it".to_owned());
                }
                if server.sandbox.is_some() {
                    say(index, "sandbox", "is for servers of type stdio; remove it".to_owned());
                }
                let is_url = url.starts_with("http://") || url.starts_with("https://") || url.contains("${");
                if !is_url {
                    say(index, "transport.url", "must begin with http:// or https://".to_owned());
                }
            }
        }
    }
    if servers.len() > MCP_SERVERS {
        say(MCP_SERVERS, "name", format!("there are more than {MCP_SERVERS} servers"));
    }
    problems
}
