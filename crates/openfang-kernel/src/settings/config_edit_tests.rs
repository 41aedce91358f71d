//! Entries come and go, and nothing else moves.

use openfang_types::config::{EnvEntry, McpTransportEntry};
use openfang_types::secret::Secret;
use proptest::prelude::*;

use super::*;

fn name(text: &str) -> ServerName {
    text.parse().unwrap()
}

fn entry(text: &str) -> McpServerConfigEntry {
    let transport = McpTransportEntry::Stdio { command: "npx".into(), args: vec!["-y".into(), "it's \"x\"".into()] };
    McpServerConfigEntry {
        env: vec![EnvEntry::new("TOKEN=se\"cret\\".into())],
        ..McpServerConfigEntry::new(name(text), transport)
    }
}

fn added(text: &str) -> String {
    add(text, &entry("new"), Existing::Keep).unwrap()
}

const WRITTEN: &str = "\
[[mcp_servers]]
name = \"new\"
env = [\"TOKEN=se\\\"cret\\\\\"]

[mcp_servers.transport]
type = \"stdio\"
command = \"npx\"
args = [\"-y\", \"it's \\\"x\\\"\"]
";

#[test]
fn an_entry_is_written_below_everything_else() {
    let rows = [
        ("", WRITTEN.to_owned()),
        ("# hello\n", format!("# hello\n\n{WRITTEN}")),
        ("[log]\nlevel = \"warn\"\n\n", format!("[log]\nlevel = \"warn\"\n\n\n{WRITTEN}")),
        ("api_key = \"x\" # mine", format!("api_key = \"x\" # mine\n\n{}", WRITTEN.trim_end())),
        (
            "[log]\r\nlevel = \"warn\"\r\n",
            format!("[log]\r\nlevel = \"warn\"\r\n\r\n{}", WRITTEN.replace('\n', "\r\n")),
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(added(text), expected, "{text:?}");
        assert_eq!(remove(&expected, &name("new")).unwrap(), text);
    }
}

#[test]
fn what_is_written_is_read_as_it_was_meant() {
    let headers = [("X-Key".to_owned(), Secret::new("a\u{7f}\n\"b".to_owned()))].into();
    let entry = McpServerConfigEntry {
        timeout_secs: 7,
        startup_timeout_secs: 9,
        protocol: openfang_types::config::McpProtocol::Modern,
        trusted: true,
        interactive: true,
        audit: openfang_types::config::McpAudit::Before,
        on_change: openfang_types::config::OnChange::Quarantine,
        ..McpServerConfigEntry::new(
            name("far"),
            McpTransportEntry::Http { url: "https://x.example/?k=v".into(), headers },
        )
    };
    for text in ["", "mcp_servers = []\n", "mcp_servers = [\n  # none\n]\n"] {
        let text = add(text, &entry, Existing::Keep).unwrap();
        let config: openfang_types::config::Config = toml::from_str(&text).unwrap();
        assert_eq!(config.mcp_servers, std::slice::from_ref(&entry), "{text}");
    }
}

const FULL: &str = "\
# The head of the file.
api_listen = \"127.0.0.1:1\" # here

# About a.
# More about a.
[[mcp_servers]]
name = \"a\" # the first
# inside a
transport.type = \"stdio\"
transport.command = \"a\"

# Not about b.

  [[ mcp_servers ]]
  name = 'b'
  # above its transport
  [\"mcp_servers\".transport]
  type = \"http\"
  url = \"http://b\"
  [mcp_servers.transport.headers]
  X = \"1\"
# below b

[log]
level = \"warn\"

[[mcp_servers]]
name = \"c\"
transport = { type = \"stdio\", command = \"c\", args = [
  \"[[mcp_servers]]\", # not a header
] }
[[mcp_servers]]
name = \"d\"
[limits] # between d and its transport
body_bytes = 5
# goes with d
[mcp_servers.transport]
type = \"stdio\"
command = '''
# not a comment
'''";

#[test]
fn an_entry_goes_with_the_comment_directly_above_it_and_nothing_else() {
    let without = |removed: &str, gone: &[&str]| {
        let mut expected = FULL.to_owned();
        for piece in gone {
            assert!(expected.contains(piece), "{piece}");
            expected = expected.replacen(piece, "", 1);
        }
        assert_eq!(remove(FULL, &name(removed)).unwrap(), expected);
    };
    let a = "\n# About a.\n# More about a.\n[[mcp_servers]]\nname = \"a\" # the first\n# inside a\ntransport.type = \"stdio\"\ntransport.command = \"a\"\n";
    without("a", &[a]);
    let b = &FULL[FULL.find("\n  [[ mcp").unwrap()..FULL.find("# below b").unwrap()];
    without("b", &[b]);
    let c = &FULL
        [FULL.find("\n[[mcp_servers]]\nname = \"c\"").unwrap()..FULL.find("[[mcp_servers]]\nname = \"d\"").unwrap()];
    without("c", &[c]);
    let tail = &FULL[FULL.find("\n# goes with d").unwrap()..];
    without("d", &["[[mcp_servers]]\nname = \"d\"\n", tail]);
}

#[test]
fn an_entry_that_is_replaced_keeps_its_place_and_its_comment() {
    let replaced = add(FULL, &entry("a"), Existing::Replace).unwrap();
    let above = "# More about a.\n[[mcp_servers]]\nname = \"a\"\nenv = ";
    assert!(replaced.contains(above), "{replaced}");
    assert!(replaced.contains("args = [\"-y\", \"it's \\\"x\\\"\"]\n\n# Not about b.\n"), "{replaced}");

    let replaced = add(FULL, &entry("d"), Existing::Replace).unwrap();
    assert!(
        replaced.ends_with("\n\n[limits] # between d and its transport\nbody_bytes = 5".trim_start()),
        "{replaced}"
    );

    let inline = "mcp_servers = [{ name = \"a\", transport = { type = \"stdio\", command = \"a\" } }, ]\n";
    let replaced = add(inline, &entry("a"), Existing::Replace).unwrap();
    assert!(
        replaced.starts_with("mcp_servers = [{ name = \"a\", env = ") && replaced.ends_with("} }, ]\n"),
        "{replaced}"
    );
}

#[test]
fn a_name_that_is_there_is_refused_and_one_that_is_not_cannot_go() {
    assert_eq!(add(FULL, &entry("b"), Existing::Keep), Err(EditError::Exists(name("b"))));
    assert_eq!(remove(FULL, &name("z")), Err(EditError::Unknown(name("z"))));
}

#[test]
fn a_file_that_is_no_toml_is_left_alone_and_not_quoted() {
    let Err(EditError::Faulty(why)) = add("api_key = \"hunter2\" oops\n", &entry("x"), Existing::Keep) else {
        panic!()
    };
    assert!(!why.contains("hunter2"), "{why}");
}

#[test]
fn an_array_keeps_its_shape() {
    let a = "{ name = \"a\", transport = { type = \"stdio\", command = \"a\" } }";
    let b = a.replace("\"a\"", "\"b\"");
    let text = format!("mcp_servers = [\n  # about a\n  {a}, # behind a\n  # about b\n  {b} # behind b\n] # end\n");

    let with = added(&text);
    assert!(with.contains(&format!("{b}, # behind b\n  {{ name = \"new\", ")), "{with}");
    assert!(with.ends_with("} }\n] # end\n"), "{with}");
    assert_eq!(
        remove(&text, &name("a")).unwrap(),
        format!("mcp_servers = [\n  # about b\n  {b} # behind b\n] # end\n")
    );
    assert_eq!(
        remove(&text, &name("b")).unwrap(),
        format!("mcp_servers = [\n  # about a\n  {a} # behind a\n] # end\n")
    );
    let line = format!("mcp_servers = [{a}, {b}]\n");
    assert_eq!(remove(&line, &name("a")).unwrap(), format!("mcp_servers = [{b}]\n"));
    assert_eq!(remove(&line, &name("b")).unwrap(), format!("mcp_servers = [{a}]\n"));
}

/// Files as people write them: an array or headers, comments and blank lines anywhere, either line ending, with and
/// without a last one.
fn files() -> impl Strategy<Value = String> {
    let noise =
        prop::sample::select(vec!["", "", "\n", "# a comment\n", "  # indented\n\n", "\n\n", "\t\n", "# x\n# y\n"]);
    let table = prop::sample::select(vec![
        "[log]\nlevel = \"warn\"\n",
        "[limits] # limits\nbody_bytes = 5 # five\n",
        "[storage]\n# nothing\n",
        "  [egress]\n  allow = [\n    \"10.0.0.0/8\", # ours\n  ]\n",
    ]);
    let server = prop::sample::select(vec![
        "[[mcp_servers]]\nname = \"@\"\n[mcp_servers.transport]\ntype = \"stdio\"\ncommand = \"c\"\n",
        "[[mcp_servers]] # @\nname = '@'\ntransport.type = \"stdio\"\n# inside\ntransport.command = \"\"\"\n[[mcp_servers]]\n\"\"\"\n",
        "[[mcp_servers]]\ntransport = { type = \"http\", url = \"http://x\" }\n\nname = \"@\"\n",
    ]);
    let array = prop::sample::select(vec![
        "",
        "mcp_servers = []\n",
        "mcp_servers = [ ] # none\n",
        "mcp_servers = [\n  # none\n]\n",
        "mcp_servers = [{ name = \"@\", transport = { type = \"stdio\", command = \"c\" } }]\n",
        "mcp_servers = [ { name = \"@\", transport = { type = \"stdio\", command = \"c\" } } , ]\n",
        "mcp_servers = [\n  { name = \"@\", transport = { type = \"stdio\", command = \"c\" } } # no comma\n]\n",
        "mcp_servers = [\n\t{ name = \"@\", transport = { type = \"stdio\", command = \"c\" } }, # comma\n # last\n]\n",
        "mcp_servers = [{ name = \"@\", transport = { type = \"stdio\", command = \"c\" } },\n]\n",
    ]);
    let root = (noise.clone(), prop::bool::ANY, array, noise.clone());
    let blocks = prop::collection::vec((noise.clone(), prop::option::of(server), prop::option::of(table), noise), 0..5);
    (root, blocks, prop::bool::ANY, prop::bool::ANY).prop_map(|((above, key, array, below), blocks, crlf, ends)| {
        let mut text = above.to_owned();
        text.push_str(if key { "api_listen = \"127.0.0.1:1\"\n" } else { "" });
        text.push_str(&array.replace('@', "inline"));
        text.push_str(below);
        let mut seen = Vec::new();
        for (index, (before, server, table, after)) in blocks.into_iter().enumerate() {
            text.push_str(before);
            if let Some(server) = server.filter(|_| array.is_empty()) {
                text.push_str(&server.replace('@', &format!("s{index}")));
            }
            if let Some(table) = table.filter(|table| !seen.contains(table)) {
                text.push_str(table);
                seen.push(table);
            }
            text.push_str(after);
        }
        if !ends && text.ends_with('\n') {
            text.pop();
        }
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

fn values(text: &str) -> toml::Table {
    toml::from_str(text).unwrap()
}

proptest! {
    #[test]
    fn what_comes_and_goes_leaves_no_trace(text in files()) {
        let with = added(&text);

        let mut expected = values(&text);
        let listed = expected.entry("mcp_servers").or_insert_with(|| toml::Value::Array(Vec::new()));
        listed.as_array_mut().unwrap().push(values(WRITTEN)["mcp_servers"][0].clone());
        prop_assert_eq!(values(&with), expected);
        prop_assert_eq!(remove(&with, &name("new")).unwrap(), text);
    }

    #[test]
    fn whichever_entry_goes_the_others_say_the_same(text in files(), which in 0_usize..5) {
        let mut expected = values(&text);
        let Some(listed) = expected.get_mut("mcp_servers").and_then(toml::Value::as_array_mut) else { return Ok(()) };
        if listed.is_empty() {
            return Ok(());
        }
        let gone = listed.remove(which % listed.len());
        let without = remove(&text, &name(gone["name"].as_str().unwrap())).unwrap();
        let mut left = values(&without);
        for table in [&mut expected, &mut left] {
            if table.get("mcp_servers").and_then(toml::Value::as_array).is_some_and(Vec::is_empty) {
                table.remove("mcp_servers");
            }
        }
        prop_assert_eq!(left, expected);
    }
}
