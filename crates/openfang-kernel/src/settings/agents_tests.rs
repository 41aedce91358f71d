//! Which agents are refused, and what is said about them.

use super::*;

fn said(files: &[(&str, &str)]) -> String {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let loaded = load(directory.path(), &Catalog::default(), &Agents::new()).unwrap();
    let names = loaded.agents.keys().map(|name| name.as_str().to_owned());
    let reasons = loaded.failed.into_iter().map(|failed| failed.reason);
    let said: Vec<String> = reasons.chain(names).collect();
    said.join(",").replace(&format!("{}/", directory.path().display()), "")
}

fn manifest(name: &str, rest: &str) -> String {
    format!("name = \"{name}\"\ndescription = \"d\"\n{rest}\n[model]\nprovider = \"direct\"\n")
}

#[test]
fn agents_are_read_in_order_of_name_and_other_files_are_left_alone() {
    let found = said(&[
        ("b/agent.toml", &manifest("b", "")),
        ("a/agent.toml", &manifest("a", "")),
        ("notes/readme.md", "hello"),
        ("stray.txt", "hello"),
    ]);

    assert_eq!(found, "a,b");
}

#[test]
fn a_broken_manifest_is_refused_with_file_line_and_key() {
    let rows = [
        (manifest("a", "colour = 1"), "a/agent.toml:3: colour: unknown key"),
        (manifest("b", ""), "a/agent.toml:1: name: must equal the name of its directory, a"),
        (manifest("A", ""), "a/agent.toml:1: name: \"A\" is not an agent name"),
        (manifest("a", "default_tool = \"nope\""), "a/agent.toml:3: default_tool: there is no tool nope"),
        (
            manifest("a", "[capabilities]\ntools = [\"a b\"]"),
            "a/agent.toml:4: capabilities.tools[0]: \"a b\" is not a tool pattern",
        ),
        ("name = \"a\"\n[model]\nprovider = \"direct\"".to_owned(), "a/agent.toml:1: missing field `description`"),
        (
            manifest("a", "").replace("direct", "gpt"),
            "a/agent.toml:5: model.provider: unknown variant `gpt`, expected `direct` or `script`",
        ),
        (manifest("a", "") + "script = \"x.toml\"", "a/agent.toml:6: model.script: is for provider = \"script\" only"),
        (
            manifest("a", "").replace("direct", "script") + "script = \"../x\"",
            "a/agent.toml:6: model.script: must be a file beside",
        ),
        (manifest("a", "").replace("direct", "script"), "a/script.toml cannot be read"),
    ];
    for (text, expected) in rows {
        let said = said(&[("a/agent.toml", &text)]);
        assert!(said.starts_with(expected), "said     {said}\nexpected {expected}");
    }
}

#[test]
fn agents_that_would_share_a_tool_name_are_refused() {
    // Names hold no underscores, so only a folded clash of hyphens could occur; the rule guards the day they do.
    let both = said(&[("a-b/agent.toml", &manifest("a-b", "")), ("a-c/agent.toml", &manifest("a-c", ""))]);

    assert_eq!(both, "a-b,a-c");
}

#[test]
fn an_agent_that_breaks_goes_on_as_it_was_and_holds_up_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(directory.path().join(name)).unwrap();
        std::fs::write(directory.path().join(name).join(MANIFEST), text).unwrap();
    };
    let read = |before: &Agents| load(directory.path(), &Catalog::default(), before).unwrap();
    write("a", &manifest("a", ""));
    write("b", &manifest("b", ""));
    let first = read(&Agents::new());
    write("a", "name =");
    write("c", "");
    let second = read(&first.agents);

    let failed: Vec<_> = second.failed.iter().map(|failed| (failed.name.as_str(), failed.is_in_force)).collect();
    assert_eq!(failed, [("a", true), ("c", false)]);
    assert!(changes(&first.agents, &second.agents).is_empty());

    write("a", &manifest("a", "# changed"));
    std::fs::remove_dir_all(directory.path().join("b")).unwrap();
    write("c", &manifest("c", ""));
    let third = read(&second.agents);

    let expected = NameChanges { added: vec!["c".into()], changed: vec!["a".into()], removed: vec!["b".into()] };
    assert_eq!(changes(&second.agents, &third.agents), expected);
    assert_eq!(third.failed, []);
}
