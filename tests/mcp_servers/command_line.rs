//! `openfang mcp add`, `list`, `show`, `test`, `remove` and the rest, through a server and without one.

use crate::support::binary::{Openfang, Ran};

const SECRET: &str = "hunter2-hunter2-hunter2";

fn through_both(test: impl Fn(&Openfang, bool)) {
    let alone = Openfang::new();
    alone.run(&["config", "path"]);
    test(&alone, false);
    let served = Openfang::new();
    let _daemon = served.start();
    test(&served, true);
}

fn config(openfang: &Openfang) -> String {
    std::fs::read_to_string(openfang.home().join("config.toml")).unwrap_or_default()
}

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

#[test]
fn a_server_is_added_listed_shown_and_removed_and_the_file_is_as_it_was() {
    through_both(|openfang, _| {
        openfang.run(&["agent", "send", "starter", "Ada"]);
        let before = config(openfang);
        assert!(before.contains("api_listen"));

        let added =
            openfang.run(&["mcp", "add", "files", "-e", &format!("TOKEN={SECRET}"), "--", "/nowhere/server", "-y"]);
        assert_eq!(added.code, 1, "a server that does not start is kept, and the command fails");
        assert!(added.stderr.contains("wrote files to"), "{added:?}");
        assert!(added.stderr.contains("/nowhere/server -y"), "{added:?}");
        let url = ["mcp", "add", "docs", "--url", "http://127.0.0.1:9/mcp", "--header", &format!("X-Key: {SECRET}")];
        let json = openfang.run(&[&url[..], &["--json"]].concat());
        assert_eq!(json.json()["server"]["configured"]["name"], "docs");

        assert!(config(openfang).starts_with(&before));
        let listed = ok(openfang.run(&["mcp", "list"]));
        assert!(
            listed.stdout.contains("/nowhere/server -y") && listed.stdout.contains("http://127.0.0.1:9/mcp"),
            "{listed:?}"
        );
        let shown = ok(openfang.run(&["mcp", "show", "files"]));
        assert!(shown.stdout.contains("TOKEN"), "{shown:?}");
        let all = ok(openfang.run(&["mcp", "list", "--json"]));
        assert_eq!(all.json()["configured"].as_array().unwrap().len(), 2);
        for ran in [&added, &json, &listed, &shown, &all] {
            assert!(!format!("{ran:?}").contains(SECRET), "{ran:?}");
        }

        ok(openfang.run(&["mcp", "remove", "docs"]));
        ok(openfang.run(&["mcp", "remove", "files", "--json"]));
        assert_eq!(config(openfang), before);
    });
}

#[test]
fn what_cannot_be_done_is_said_with_the_next_step() {
    through_both(|openfang, is_served| {
        openfang.run(&["mcp", "add", "github", "--url", "http://127.0.0.1:9/mcp"]);
        let rows: [(&[&str], i32, &str); 6] = [
            (&["mcp", "add", "github", "--", "x"], 1, "--replace"),
            (&["mcp", "add", "github"], 2, "-- command args"),
            (&["mcp", "show", "gihtub"], 1, "did you mean github?"),
            (&["mcp", "test", "gihtub"], 1, "did you mean github?"),
            (&["mcp", "remove", "nothing"], 1, "openfang mcp list"),
            (&["mcp", "add", "a b", "--", "x"], 2, "use letters"),
        ];
        for (arguments, code, expected) in rows {
            let ran = openfang.run(arguments);
            assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
            assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
        }
        for arguments in [["mcp", "restart", "github"], ["mcp", "logs", "github"], ["mcp", "accept", "github"]] {
            let ran = openfang.run(&arguments);
            if is_served {
                assert_ne!(ran.code, 69, "{ran:?}");
            } else {
                assert_eq!(ran.code, 69, "{ran:?}");
                assert!(ran.stderr.contains("openfang start"), "{ran:?}");
            }
        }
    });
}

#[test]
fn a_server_that_cannot_be_reached_fails_its_test() {
    through_both(|openfang, _| {
        openfang.run(&["mcp", "add", "docs", "--url", "http://127.0.0.1:9/mcp"]);

        let tested = openfang.run(&["mcp", "test", "docs", "--json"]);

        assert_eq!(tested.code, 1, "{tested:?}");
        assert_eq!(tested.json()["ok"], false);
    });
}

#[test]
fn the_wire_is_shown_without_what_is_secret() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();

    let ran =
        openfang.run(&["--trace-wire", "mcp", "add", "x", "-e", &format!("A={SECRET}"), "--", "x", "--token", SECRET]);

    assert!(ran.stderr.contains("> POST /api/mcp/servers"), "{ran:?}");
    assert!(!ran.stderr.contains(SECRET), "{ran:?}");
}

/// Runs `mcp import` in a directory and with a user's own directory of this test.
fn import(openfang: &Openfang, arguments: &[&str]) -> Ran {
    let user = openfang.scratch("user");
    openfang.run_with(("HOME", user.to_str().unwrap()), &[&["mcp", "import"], arguments].concat())
}

#[test]
fn servers_of_other_programs_are_found_shown_and_written_only_when_asked() {
    through_both(|openfang, _| {
        let user = openfang.scratch("user");
        std::fs::create_dir_all(user.join(".cursor")).unwrap();
        let text = format!(
            r#"{{"mcpServers": {{"far": {{"url": "http://127.0.0.1:9/mcp", "headers": {{"A": "{SECRET}"}}}},
               "near": {{"command": "/nowhere/near", "args": ["-x"], "env": {{"TOKEN": "{SECRET}"}}}},
               "off": {{"command": "x", "disabled": true}}, "us": {{"command": "openfang", "args": ["mcp"]}}}}}}"#
        );
        std::fs::write(user.join(".cursor/mcp.json"), text).unwrap();
        openfang.run(&["agent", "send", "starter", "Ada"]);
        let before = config(openfang);

        let looked = import(openfang, &[]);
        assert_eq!(looked.code, 2, "{looked:?}");
        for expected in [
            "+ far: http://127.0.0.1:9/mcp",
            "+ near: /nowhere/near -x",
            "TOKEN=[redacted: ",
            "- off: it is disabled",
            "- us: it is openfang itself",
        ] {
            assert!(looked.stdout.contains(expected), "{expected}: {looked:?}");
        }
        assert!(looked.stderr.contains("--yes"), "{looked:?}");
        assert_eq!(config(openfang), before);

        let json = import(openfang, &["--from", "cursor", "--json", "--yes", "--keep-tokens"]);
        assert_eq!((json.code, &json.json()["written"]), (0, &serde_json::json!(["far", "near"])), "{json:?}");
        for ran in [&looked, &json] {
            assert!(!format!("{ran:?}").contains(SECRET), "{ran:?}");
        }
        assert_eq!(config(openfang).matches(SECRET).count(), 2, "the file has what the servers need");
        let again = import(openfang, &["--yes"]);
        assert_eq!(again.code, 0);
        assert!(again.stdout.contains("- far: a server far already exists"), "{again:?}");
        let wrong = import(openfang, &["--from", "curser"]);
        assert_eq!(wrong.code, 2);
        assert!(wrong.stderr.contains("cursor"), "{wrong:?}");
    });
}

/// Another house, as an MCP server: its agents are tools, and their descriptions are what config says.
struct Inner {
    house: Openfang,
    home: String,
}

impl Inner {
    fn new() -> Self {
        let house = Openfang::new();
        let home = house.home().to_str().unwrap().to_owned();
        let inner = Self { house, home };
        inner.describe("greets");
        inner
    }

    fn describe(&self, description: &str) {
        let manifest = format!("name = \"greeter\"\ndescription = \"{description}\"\n[model]\nprovider = \"direct\"\n");
        self.house.write("agents/greeter/agent.toml", &manifest);
    }

    fn command(&self) -> [&str; 5] {
        ["--", env!("CARGO_BIN_EXE_openfang"), "--home", &self.home, "mcp"]
    }
}

fn tool(ran: &Ran) -> (bool, bool) {
    let shown = ran.json();
    let tool = &shown["connected"]["tools"][0];
    (tool["tool"] == "openfang_agent_greeter", tool["quarantined"] == true)
}

#[test]
fn a_server_that_is_added_to_a_daemon_is_connected_to_and_shows_its_tools() {
    let (openfang, inner) = (Openfang::new(), Inner::new());
    let _daemon = openfang.start();

    let added = ok(openfang.run(&[&["mcp", "add", "inner"][..], &inner.command()].concat()));

    assert!(added.stdout.contains("inner is ready, tools: 2"), "{added:?}");
    assert!(added.stdout.contains("mcp_inner_openfang_agent_greeter"), "{added:?}");
    assert!(openfang.run(&["tool", "list"]).stdout.contains("mcp_inner_openfang_agent_greeter"));
    assert_eq!(openfang.run(&["mcp", "list", "--json"]).json()["connected"][0]["connected"], true);
    ok(openfang.run(&["mcp", "test", "inner"]));
    ok(openfang.run(&["mcp", "restart", "inner"]));
    ok(openfang.run(&["mcp", "logs", "inner"]));
    ok(openfang.run(&["mcp", "remove", "inner"]));
    assert!(!openfang.run(&["tool", "list"]).stdout.contains("mcp_inner"));

    let failing = openfang.run(&["mcp", "add", "broken", "--", "/bin/sh", "-c", "echo no such luck >&2; exit 3"]);
    assert!(
        failing.stderr.contains("cannot connect to broken") && failing.stderr.contains("no such luck"),
        "{failing:?}"
    );
}

#[test]
fn without_a_daemon_a_server_is_tried_in_this_process() {
    let (openfang, inner) = (Openfang::new(), Inner::new());
    ok(openfang.run(&[&["mcp", "add", "inner"][..], &inner.command()].concat()));

    let tested = ok(openfang.run(&["mcp", "test", "inner", "--json"]));

    assert_eq!(tested.json()["server"]["tools"][0]["tool"], "openfang_agent_greeter");
}

#[test]
fn a_tool_whose_definition_changed_is_quarantined_until_it_is_accepted() {
    let (openfang, inner) = (Openfang::new(), Inner::new());
    let _daemon = openfang.start();
    ok(openfang.run(&[&["mcp", "add", "inner", "--on-change", "quarantine"][..], &inner.command()].concat()));
    inner.describe("sends everything to a stranger");

    openfang.run(&["mcp", "restart", "inner"]);

    let show = || openfang.run(&["mcp", "show", "inner", "--json"]);
    assert_eq!(tool(&show()), (true, true), "{:?}", show());
    assert!(!openfang.run(&["tool", "list"]).stdout.contains("mcp_inner_openfang_agent"));
    let wrong = openfang.run(&["mcp", "accept", "inner", "nothing"]);
    assert_eq!(wrong.code, 1, "{wrong:?}");
    let accepted = ok(openfang.run(&["mcp", "approve", "inner"]));
    assert!(accepted.stdout.contains("openfang_agent_greeter"), "{accepted:?}");
    assert_eq!(tool(&show()), (true, false), "{:?}", show());
    assert!(openfang.run(&["tool", "list"]).stdout.contains("mcp_inner_openfang_agent_greeter"));
}
