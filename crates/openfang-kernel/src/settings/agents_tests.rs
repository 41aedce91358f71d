//! Which agents are refused, and what is said about them.

use openfang_runtime::models::{ModelTarget, ModelUnavailable};

use super::*;

/// No models at all.
struct NoModels;

impl ModelSource for NoModels {
    fn chain<'a>(
        &'a self,
        _: &'a AgentManifest,
    ) -> futures_util::future::BoxFuture<'a, Result<Vec<Arc<ModelTarget>>, ModelUnavailable>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn read_all(directory: &Path, config: &Config, before: &Agents) -> LoadedAgents {
    let models: Arc<dyn ModelSource> = Arc::new(NoModels);
    let around = AgentSurroundings { catalog: &Catalog::default(), config, models: &models };
    load(directory, &around, before).unwrap()
}

fn said(files: &[(&str, &str)]) -> String {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let loaded = read_all(directory.path(), &Config::default(), &Agents::new());
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
            "a/agent.toml:5: model.provider: there is no provider gpt; use direct, script, auto, anthropic",
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
    let read = |before: &Agents| read_all(directory.path(), &Config::default(), before);
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

const MODEL: &str =
    "name = \"a\"\ndescription = \"d\"\n[model]\nprovider = \"anthropic\"\nmodel = \"claude-sonnet-4-6\"\n";

#[test]
fn an_agent_with_a_model_that_cannot_work_is_refused_with_file_line_and_key() {
    for (text, expected) in [
        (
            MODEL.replace("anthropic", "antropic"),
            "a/agent.toml:4: model.provider: there is no provider antropic; did you mean",
        ),
        (MODEL.replace("model = \"claude-sonnet-4-6\"", ""), "a/agent.toml:3: model.model: must be set"),
        (format!("{MODEL}temprature = 1"), "a/agent.toml:6: model.temprature: unknown key; did you mean temperature?"),
        (
            format!("{MODEL}base_url = \"http://llm.example.org\"\napi_key_env = \"K\""),
            "a/agent.toml:6: model.base_url: the API key would be sent to http://llm.example.org unencrypted",
        ),
        (
            format!("{MODEL}system_prompt_file = \"p.md\""),
            "a/agent.toml:6: model.system_prompt_file: a/p.md cannot be read",
        ),
        (
            format!("{MODEL}[[fallback_models]]\nprovider = \"olama\"\nmodel = \"m\""),
            "a/agent.toml:7: fallback_models[0].provider: there is no provider olama; did you mean ollama?",
        ),
        (
            format!("{}[resources]\nmax_cost_per_run_usd = 1", MODEL.replace("claude-sonnet-4-6", "nobody-knows")),
            "a/agent.toml:7: resources.max_cost_per_run_usd: the price of anthropic/nobody-knows is not known",
        ),
        (format!("{MODEL}[flow]\nmode = \"sealed\""), "a/agent.toml:7: flow.mode: \"sealed\" does not exist"),
    ] {
        let said = said(&[("a/agent.toml", &text)]);
        assert!(said.starts_with(expected), "said     {said}\nexpected {expected}");
    }
    let limited = format!("{MODEL}[resources]\nmax_cost_per_run_usd = 1");
    assert_eq!(said(&[("a/agent.toml", &limited)]), "a");
    let broken = format!("{MODEL}[output]\nschema = \"s.json\"");
    assert!(
        said(&[("a/agent.toml", &broken), ("a/s.json", "[1]")])
            .contains("output.schema: the file is not a JSON Schema")
    );
    assert!(
        said(&[("a/agent.toml", &broken), ("a/s.json", "{\"a\":")]).contains("output.schema: the file is not JSON")
    );
    assert_eq!(said(&[("a/agent.toml", &broken), ("a/s.json", "{\"type\": \"object\"}")]), "a");
}

#[test]
fn an_agent_is_another_one_when_a_file_that_it_names_changes() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("a");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join(MANIFEST), format!("{MODEL}system_prompt_file = \"p.md\"")).unwrap();
    std::fs::write(place.join("p.md"), "Be brief.").unwrap();
    let config = Config::default();
    let first = read_all(directory.path(), &config, &Agents::new());
    let second = read_all(directory.path(), &config, &first.agents);
    assert!(changes(&first.agents, &second.agents).is_empty());

    std::fs::write(place.join("p.md"), "Be long.").unwrap();
    let third = read_all(directory.path(), &config, &second.agents);

    assert_eq!(changes(&second.agents, &third.agents).changed, ["a"]);
}

#[test]
fn the_documentation_has_every_key_of_an_agent_and_no_other() {
    let page = include_str!("../../../../docs/agents.md");
    let (_, reference) = page.split_once("## Keys of agent.toml").unwrap();
    let (reference, _) = reference.split_once("\n## ").unwrap();
    let rows = reference.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let mut documented: Vec<String> = rows.map(|(key, _)| key.to_owned()).collect();
    let mut known = Vec::new();
    keys_of(&strict_toml::schema_of::<AgentManifest>(), "", &mut known);

    documented.sort();
    known.sort();
    assert_eq!(documented, known);
}

fn keys_of(schema: &serde_json::Value, path: &str, keys: &mut Vec<String>) {
    for (key, below) in strict_toml::properties(schema).into_iter().flatten() {
        let full = format!("{path}{key}");
        let items = below.get("items").unwrap_or(below);
        // A table that may be absent is one of two forms.
        let table = items["anyOf"]
            .as_array()
            .and_then(|forms| forms.iter().find(|form| form.get("properties").is_some()));
        let table = table.unwrap_or(items);
        let is_list_of_tables = below.get("items").is_some_and(|items| items.get("properties").is_some());
        if table.get("properties").is_none() || is_list_of_tables {
            keys.push(full.clone());
        }
        keys_of(table, &format!("{full}."), keys);
    }
}
