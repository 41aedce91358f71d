//! One sample of every program's file, and what becomes of it.

use openfang_types::config::EnvEntry;
use openfang_types::secret::Secret;

use super::*;
use crate::clients::Client;

const HOME: &str = "/srv/ada";
const PROJECT: &str = "/srv/ada/shop";

fn source(client: Client, path: &str) -> Source {
    Source { client, path: path.into(), project: Some(PROJECT.into()) }
}

fn planned(client: Client, path: &str, text: &str) -> Vec<PlanEntry> {
    let source = source(client, path);
    let found = read(&source, text, Some(Path::new(HOME))).unwrap();
    let mut plan = plan(vec![(source, found)], &[], SocketAddr::from(([127, 0, 0, 1], 50051)));
    plan.remove(0).1
}

fn add(written: &str, entry: McpServerConfigEntry, remarks: &[&str]) -> PlanEntry {
    let remarks = remarks.iter().map(|&remark| remark.to_owned()).collect();
    PlanEntry { name: written.to_owned(), decision: Decision::Add(Box::new(ImportableServer { entry, remarks })) }
}

fn skip(written: &str, why: &str) -> PlanEntry {
    PlanEntry { name: written.to_owned(), decision: Decision::Skip(why.to_owned()) }
}

fn program(name: &str, words: &[&str], env: &[&str]) -> McpServerConfigEntry {
    let args = words[1..].iter().map(|&word| word.to_owned()).collect();
    let transport = McpTransportEntry::Stdio { command: words[0].to_owned(), args };
    let env = env.iter().map(|&variable| EnvEntry::new(variable.to_owned())).collect();
    McpServerConfigEntry { env, ..McpServerConfigEntry::new(name.parse().unwrap(), transport) }
}

fn remote(name: &str, url: &str, headers: &[(&str, &str)]) -> McpServerConfigEntry {
    let secret = |(name, value): &(&str, &str)| ((*name).to_owned(), Secret::new((*value).to_owned()));
    let transport = McpTransportEntry::Http { url: url.to_owned(), headers: headers.iter().map(secret).collect() };
    McpServerConfigEntry::new(name.parse().unwrap(), transport)
}

#[test]
fn claude_desktop() {
    let text = include_str!("../../../tests/imports/claude_desktop_config.json");

    let server = "@modelcontextprotocol/server-brave-search";
    let files = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/Users/ada/Desktop", "/Users/ada/Downloads"];
    let expected = [
        add(
            "Brave Search",
            program("Brave-Search", &["npx", "-y", server], &["BRAVE_API_KEY=BSA-0123456789"]),
            &["renamed to Brave-Search"],
        ),
        add("filesystem", program("filesystem", &files, &[]), &[]),
        skip("openfang", "it is openfang itself"),
    ];
    assert_eq!(planned(Client::ClaudeDesktop, "/x/claude_desktop_config.json", text), expected);
}

#[test]
fn claude_code_with_the_servers_of_this_project_and_no_other() {
    let text = include_str!("../../../tests/imports/claude.json");

    let airtable =
        program("airtable", &["npx", "-y", "airtable-mcp-server"], &["AIRTABLE_API_KEY=${AIRTABLE_API_KEY}"]);
    let dsn = "postgresql://readonly:pass@${DB_HOST}:5432/shop";
    let default = "the default of ${DB_HOST} is not imported: set that variable where openfang runs";
    let expected = [
        add("airtable", airtable, &[]),
        add("sentry", remote("sentry", "https://mcp.sentry.dev/mcp", &[]), &[]),
        add("db", program("db", &["npx", "-y", "@bytebase/dbhub", "--dsn", dsn], &[]), &[default]),
    ];
    assert_eq!(planned(Client::ClaudeCode, "/srv/ada/.claude.json", text), expected);
}

#[test]
fn cursor() {
    let text = include_str!("../../../tests/imports/cursor_mcp.json");

    let token = "GITHUB_PERSONAL_ACCESS_TOKEN";
    let words = ["docker", "run", "-i", "--rm", "-e", token, "ghcr.io/github/github-mcp-server"];
    let sse = McpTransportEntry::Sse { url: "https://mcp.linear.app/sse".to_owned(), headers: Default::default() };
    let expected = [
        add(
            "context7",
            remote("context7", "https://mcp.context7.com/mcp", &[("CONTEXT7_API_KEY", "ctx7sk-0123456789")]),
            &[],
        ),
        add(
            "github",
            program("github", &words, &["GITHUB_PERSONAL_ACCESS_TOKEN=${GITHUB_TOKEN}"]),
            &["${env:GITHUB_TOKEN} became ${GITHUB_TOKEN}", "the variables of its envFile are not imported"],
        ),
        add("linear", McpServerConfigEntry::new("linear".parse().unwrap(), sse), &[]),
    ];
    assert_eq!(planned(Client::Cursor, "/srv/ada/.cursor/mcp.json", text), expected);
}

#[test]
fn vs_code_with_comments_inputs_and_the_folder_of_the_workspace() {
    let text = include_str!("../../../tests/imports/vscode_mcp.json");

    let pat = "${input:github_mcp_pat} became ${GITHUB_MCP_PAT}: set that variable where openfang runs";
    let key = "${input:perplexity-key} became ${PERPLEXITY_KEY}: set that variable where openfang runs";
    let words = ["npx", "-y", "server-perplexity-ask", "--root", "/srv/ada/shop/src"];
    let perplexity = McpServerConfigEntry {
        cwd: Some("/srv/ada/shop".to_owned()),
        ..program("perplexity", &words, &["PERPLEXITY_API_KEY=${PERPLEXITY_KEY}", "RETRIES=3"])
    };
    let github =
        remote("github", "https://api.githubcopilot.com/mcp/", &[("Authorization", "Bearer ${GITHUB_MCP_PAT}")]);
    let expected = [
        add("github", github, &[pat]),
        add("perplexity", perplexity, &[key]),
        skip("picked", "${command:extension.pickServer} has no meaning here"),
    ];
    assert_eq!(planned(Client::VsCode, "/srv/ada/shop/.vscode/mcp.json", text), expected);
}

#[test]
fn codex() {
    let text = include_str!("../../../tests/imports/codex_config.toml");

    let env = ["MY_ENV_VAR=MY_ENV_VALUE", "LOCAL_TOKEN", "REMOTE_TOKEN"];
    let context7 = McpServerConfigEntry {
        timeout_secs: 46,
        startup_timeout_secs: 20,
        ..program("context7", &["npx", "-y", "@upstash/context7-mcp"], &env)
    };
    let headers = [
        ("Authorization", "Bearer ${FIGMA_OAUTH_TOKEN}"),
        ("X-Figma-Region", "us-east-1"),
        ("X-Trace", "${FIGMA_TRACE}"),
    ];
    let tools = ToolSelection { include: vec!["get_code".parse().unwrap()], exclude: Vec::new() };
    let figma = McpServerConfigEntry { tools, ..remote("figma", "https://mcp.figma.com/mcp", &headers) };
    let expected =
        [skip("chrome_devtools", "it is disabled"), add("context7", context7, &[]), add("figma", figma, &[])];
    assert_eq!(planned(Client::Codex, "/srv/ada/.codex/config.toml", text), expected);
}

#[test]
fn windsurf() {
    let text = include_str!("../../../tests/imports/windsurf_mcp_config.json");

    let figma = remote("figma", "https://mcp.figma.com/mcp", &[("Authorization", "Bearer ${FIGMA_TOKEN}")]);
    let tools = ToolSelection { include: Vec::new(), exclude: vec!["git_reset".parse().unwrap()] };
    let git = program("git", &["uvx", "mcp-server-git", "--repository", "/srv/ada/shop"], &[]);
    let git = McpServerConfigEntry { tools, ..git };
    let expected = [
        add("figma", figma, &["${env:FIGMA_TOKEN} became ${FIGMA_TOKEN}"]),
        add("git", git, &[]),
        skip("puppeteer", "it is disabled"),
    ];
    assert_eq!(planned(Client::Windsurf, "/srv/ada/.codeium/windsurf/mcp_config.json", text), expected);
}

#[test]
fn zed_in_its_new_and_its_old_form() {
    let text = include_str!("../../../tests/imports/zed_settings.json");

    let uri = "DATABASE_URI=postgresql://ada:pw@localhost/shop";
    let expected = [
        skip("mcp-server-github", "it belongs to an extension; add its command with `openfang mcp add`"),
        add("old-style", program("old-style", &["node", "/opt/server.js"], &["PORT=1"]), &[]),
        add("postgres", program("postgres", &["uvx", "postgres-mcp", "--access-mode=restricted"], &[uri]), &[]),
        add("remote", remote("remote", "https://mcp.example.org/mcp", &[("Authorization", "Bearer abc")]), &[]),
    ];
    assert_eq!(planned(Client::Zed, "/srv/ada/.config/zed/settings.json", text), expected);
}

#[test]
fn names_are_valid_and_unique_and_what_is_there_stays() {
    let of = |path: &str, text: &str| {
        let source = source(Client::File, path);
        let found = read(&source, text, None).unwrap();
        (source, found)
    };
    let one = r#"{"mcpServers": {"a": {"command": "x"}, "kept": {"command": "y"}, "!!": {"command": "z"}}}"#;
    let two = r#"{"servers": {"a": {"command": "other"}, "b": {"command": "x"}, "us": {"url": "http://localhost:50051/mcp"}}}"#;
    let kept = program("kept", &["something else"], &[]);

    let plan = plan(vec![of("/1.json", one), of("/2.json", two)], &[kept], SocketAddr::from(([0, 0, 0, 0], 50051)));

    let expected = [
        add("!!", program("server", &["z"], &[]), &["renamed to server"]),
        add("a", program("a", &["x"], &[]), &[]),
        skip("kept", "a server kept already exists"),
        add("a", program("a-2", &["other"], &[]), &["renamed to a-2"]),
        skip("b", "it is the same as a"),
        skip("us", "it is openfang itself"),
    ];
    assert_eq!(plan.into_iter().flat_map(|(_, planned)| planned).collect::<Vec<_>>(), expected);
    let long: ServerName = "x".repeat(64).parse().unwrap();
    let taken = McpServerConfigEntry { name: long.clone(), ..program("x", &["x"], &[]) };
    assert_eq!(free_name(&long, &[taken]).as_str(), format!("{}-2", "x".repeat(62)));
}

#[test]
fn what_only_a_workspace_knows_is_not_taken_from_the_users_own_file() {
    let user = Source { client: Client::VsCode, path: "/u/mcp.json".into(), project: None };
    let text = r#"{"servers": {"a": {"command": "${userHome}/x", "args": ["${workspaceFolder}"]}}}"#;

    let found = read(&user, text, Some(Path::new(HOME))).unwrap();

    assert_eq!(found[0].server, Err("${workspaceFolder} has no meaning outside of a project".to_owned()));
}

#[test]
fn opencode_amp_and_a_command_that_is_no_text() {
    let text = r#"{"mcp": {"local": {"type": "local", "command": ["npx", "-y", "x"], "environment": {"A": "b"}},
        "far": {"type": "remote", "url": "https://x.example/mcp"}, "off": {"type": "local", "command": [], "enabled": false}}}"#;
    let expected = [
        add("far", remote("far", "https://x.example/mcp", &[]), &[]),
        add("local", program("local", &["npx", "-y", "x"], &["A=b"]), &[]),
        skip("off", "it is disabled"),
    ];
    assert_eq!(planned(Client::OpenCode, "/srv/ada/.config/opencode/opencode.json", text), expected);

    let text = r#"{"amp.mcpServers": {"a": {"command": "x"}}}"#;
    assert_eq!(planned(Client::Amp, "/x/settings.json", text), [add("a", program("a", &["x"], &[]), &[])]);

    let text = r#"{"mcpServers": {"a": {"command": 5}, "b": {"command": []}}}"#;
    let expected = [skip("a", "its command is not text: 5"), skip("b", "its command is an empty list")];
    assert_eq!(planned(Client::Cursor, "/x/mcp.json", text), expected);
}

#[test]
fn a_relative_directory_is_not_imported_and_that_is_said() {
    let text = r#"{"mcpServers": {"x": {"command": "x", "cwd": "src"}, "y": {"command": "y", "disabledTools": [""]}}}"#;

    let found = planned(Client::Cursor, "/srv/ada/.cursor/mcp.json", text);

    let relative = "its working directory is a relative path and is not imported; set cwd";
    let unusable = "its lists of tools are not imported: \"\" is not a pattern of tools: use the server's own name of a tool, \
        with * for any characters";
    let expected = [add("x", program("x", &["x"], &[]), &[relative]), add("y", program("y", &["y"], &[]), &[unusable])];
    assert_eq!(found, expected);
}
