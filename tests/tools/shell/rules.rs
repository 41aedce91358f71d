//! Which commands run without a question, and what becomes of the others.

use std::os::unix::fs::PermissionsExt as _;

use openfang_testkit::{TestHome, callers};
use openfang_types::api::DecisionKind;
use serde_json::json;

use super::Shell;
use crate::support::{artifact_names, artifact_text, send};

/// An agent that runs this command whatever it is told.
fn with_agent(command: &str, exec: &str) -> TestHome {
    let arguments = json!({ "command": command }).to_string();
    let script = format!(
        "[[rules]]\nwhen = {{ text = \"go\" }}\nsteps = [{{ tool = {{ name = \"shell_exec\", arguments = {} }} }}]\n",
        toml_table(&arguments)
    );
    let home = TestHome::new().with_script("worker", &["*"], &script);
    let manifest = format!(
        "name = \"worker\"\ndescription = \"a worker\"\n[model]\nprovider = \"script\"\n[capabilities]\ntools = [\"*\"]\n[exec]\n{exec}"
    );
    home.write("agents/worker/agent.toml", &manifest);
    home
}

/// An object with one text, as TOML has it.
fn toml_table(arguments: &str) -> String {
    let value: toml::Value = serde_json::from_str::<toml::Value>(arguments).unwrap();
    let text = value["command"].as_str().unwrap();
    format!("{{ command = {} }}", toml::Value::from(text))
}

/// What an agent gets for a command, by the rules of the configuration and its own.
async fn outcome(command: &str, config: &str, agent: &str) -> String {
    let shell = Shell::with(with_agent(command, agent), config);
    let task = send(&shell.kernel, &callers::operator(&shell.kernel), "worker", "go").await;
    match artifact_names(&task).last() {
        Some(&"shell_exec-result") => "ran".to_owned(),
        Some(&"shell_exec-error") => artifact_text(&task, "shell_exec-error"),
        other => panic!("{other:?}: {task:?}"),
    }
}

#[tokio::test]
async fn a_rule_allows_what_it_says_and_everything_else_is_asked() {
    let rows = [
        ("printf x", "allow = [\"printf *\"]", "", "ran"),
        ("printf x", "", "", "add \"printf x\" to allow under [exec]"),
        ("printf x", "allow = [\"printf y\"]", "", "a person can approve"),
        ("printf x", "allow = [\"printf *\"]", "allow = []", "a person can approve"),
        ("printf x", "", "allow = [\"printf *\"]", "a person can approve"),
        ("printf x", "allow = [\"printf *\"]", "deny = [\"printf\"]", "the rule \"printf\" of [exec] deny"),
        ("printf x", "allow = [\"printf *\"]\ndeny = [\"printf x\"]", "allow = [\"printf *\"]", "of [exec] deny"),
        ("sh -c id", "allow = [{ command = \"sh *\", unsafe = true }]", "", "ran"),
        ("sort --compress-program=sh /dev/null", "allow = [\"sort *\"]", "", "a person can approve"),
        ("sort /dev/null", "allow = [\"sort *\"]", "", "ran"),
        ("env printf x", "allow = [\"printf *\"]", "", "a person can approve"),
        ("cp -t . x", "allow = [\"cp * * *\"]", "", "a person can approve"),
    ];
    for (command, config, agent, expected) in rows {
        let said = outcome(command, config, agent).await;
        assert!(said.contains(expected), "{command} / {config} / {agent}: {said}");
    }
}

#[tokio::test]
async fn an_approved_program_of_the_workspace_runs_only_as_it_was_shown() {
    let shell = Shell::with(with_agent("./build.sh", ""), "");
    let operator = callers::operator(&shell.kernel);
    let script = shell.home.path().join("workspaces/agents/worker/build.sh");
    let write = |body: &str| {
        std::fs::create_dir_all(script.parent().unwrap()).unwrap();
        std::fs::write(&script, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let go = async || send(&shell.kernel, &operator, "worker", "go").await;
    let approve = async || {
        let asked = shell.kernel.approvals(&operator).await.unwrap();
        let asked = asked.into_iter().find(|asked| asked.state == "pending").unwrap();
        assert!(asked.reason.contains("a file that agents can change"), "{}", asked.reason);
        let decision = (DecisionKind::Approve, asked.digest.as_str());
        shell.kernel.decide_approval(&operator, asked.id, decision).await.unwrap();
    };
    write("echo first");
    go().await;
    approve().await;

    write("echo second");
    let task = go().await;
    assert!(artifact_text(&task, "shell_exec-error").contains("a person can approve"), "{task:?}");

    approve().await;
    let task = go().await;
    assert!(artifact_text(&task, "shell_exec-result").starts_with("second"), "{task:?}");
}

#[tokio::test]
async fn a_file_of_the_workspace_with_the_name_of_a_program_is_not_that_program() {
    let shell = Shell::with(with_agent("./printf x", ""), "allow = [\"printf *\"]");
    let planted = shell.home.path().join("workspaces/agents/worker/printf");
    std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/usr/bin/printf", &planted).unwrap();

    let task = send(&shell.kernel, &callers::operator(&shell.kernel), "worker", "go").await;

    assert!(artifact_text(&task, "shell_exec-error").contains("a person can approve"), "{task:?}");
}

#[tokio::test]
async fn fuzzed_arguments_reach_one_program_as_they_are_and_no_second_one_starts() {
    let shell = Shell::new();
    let canary = shell.workspace().join("canary");
    let pieces = [
        ";",
        "|",
        "&",
        "&&",
        "||",
        "\n",
        "`touch canary`",
        "$(touch canary)",
        "> canary",
        "<",
        "'",
        "\"",
        "\\",
        " ",
        "\t",
        "*",
        "~",
        "#",
        "{a,b}",
        "$HOME",
        "${IFS}",
        "touch canary",
        "--",
        "-n",
        "é",
        "\u{202e}",
        "\u{1b}[2J",
        "!",
        "(",
        ")",
        "%s",
        "=",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state).unwrap() % limit
    };
    for _ in 0..crate::support::rounds("SHELL_FUZZ", 60) {
        let words: Vec<String> = (0..=next(6))
            .map(|_| (0..=next(4)).map(|_| pieces[next(pieces.len())]).collect())
            .collect();
        let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let command = format!("printf '%s\\0' {}", quoted.join(" "));
        let (split, passed) = (
            shell.call(json!({ "command": command })).await,
            shell.call(json!({ "command": "printf '%s\\0'", "args": words })).await,
        );

        let expected: String = words.iter().map(|word| format!("{word}\0")).collect();
        assert_eq!(super::structured(&split)["stdout"], expected, "{words:?}");
        assert_eq!(super::structured(&passed)["stdout"], expected, "{words:?}");
    }
    assert!(!canary.exists());
}

#[tokio::test]
async fn shell_operators_are_arguments_and_the_result_says_so() {
    let shell = Shell::new();
    let rows = [
        ("echo a; touch canary", "a; touch canary\n"),
        ("echo $(touch canary) `touch canary`", "$(touch canary) `touch canary`\n"),
        ("echo a && touch canary", "a && touch canary\n"),
        ("echo a | touch canary > canary", "a | touch canary > canary\n"),
        ("echo 'a\ntouch canary'", "a\ntouch canary\n"),
        ("echo $HOME ~ * ${PATH}", "$HOME ~ * ${PATH}\n"),
    ];
    for (command, stdout) in rows {
        assert_eq!(shell.run(command).await["stdout"], stdout, "{command}");
    }
    assert!(!shell.workspace().join("canary").exists());
    let said = shell.call(json!({ "command": "echo a | wc" })).await.joined_text();
    assert!(said.contains("there is no shell: \"|\" was passed to the program as an argument"), "{said}");
    let refused = shell.call(json!({ "command": "echo a\ntouch canary" })).await;
    assert!(refused.is_error && refused.joined_text().contains("line break"), "{}", refused.joined_text());
}

#[tokio::test]
async fn arguments_out_of_bounds_are_refused_before_anything_runs() {
    let shell = Shell::new();
    for arguments in [
        json!({ "command": "printf x", "timeout_seconds": 0 }),
        json!({ "command": "printf x", "timeout_seconds": 1_000_000_000 }),
        json!({ "command": "printf x", "timeout_seconds": -1 }),
        json!({ "command": "printf x", "shell": true }),
        json!({}),
    ] {
        assert_eq!(shell.try_call(arguments.clone()).await.unwrap_err().reason(), "invalid_arguments", "{arguments}");
    }
    for (arguments, why) in [
        (json!({ "command": "printf x", "cwd": "../x" }), ".."),
        (json!({ "command": "printf x", "cwd": "/etc" }), "absolute"),
        (json!({ "command": "printf x", "cwd": "missing" }), "missing"),
        (json!({ "command": "printf", "args": vec!["x"; 1_000_000] }), "too long"),
        (json!({ "command": "printf", "args": ["a\0b"] }), "NUL"),
        (json!({ "command": "no-such-program" }), "no program `no-such-program`"),
        (json!({ "command": "../../x" }), ".."),
        (json!({ "command": "" }), "empty"),
    ] {
        let output = shell.call(arguments.clone()).await;
        assert!(output.is_error && output.joined_text().contains(why), "{arguments}: {}", output.joined_text());
    }
    std::os::unix::fs::symlink("/etc", shell.workspace().join("link")).unwrap();
    let output = shell.call(json!({ "command": "ls", "cwd": "link" })).await;
    assert!(output.is_error && !output.joined_text().contains("passwd"), "{}", output.joined_text());
}

#[test]
fn policy_explain_shows_the_rules_and_doctor_says_where_walls_are_missing() {
    let openfang = crate::support::binary::Openfang::new();
    let manifest = "name = \"worker\"\ndescription = \"d\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"*\"]\n\
                    [exec]\nallow = [\"git status\"]\ndeny = [\"git push\"]\n";
    openfang.write("agents/worker/agent.toml", manifest);
    openfang.write("config.toml", "[exec]\nallow = [\"git status *\"]\ndeny = [\"curl\"]\n");

    let shown = openfang.run(&["policy", "explain", "worker", "shell_exec"]).stdout;
    for text in
        ["\"git status *\"", "\"git status\"", "\"curl\", \"git push\"", "without network", "at this machine", "600 s"]
    {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(
        !openfang
            .run(&["policy", "explain", "worker", "file_read"])
            .stdout
            .contains("denied commands")
    );

    openfang.write("config.toml", "[exec]\nunsandboxed = true\n");
    let doctor = openfang.run(&["doctor", "--offline"]).stdout;
    assert!(doctor.contains("run without a sandbox") && doctor.contains("remove `unsandboxed`"), "{doctor}");
    let shown = openfang.run(&["policy", "explain", "worker", "shell_exec"]).stdout;
    assert!(shown.contains("none: programs can do what the user of the server can"), "{shown}");
    openfang.write("config.toml", "[egress]\nchildren = \"portable\"\n");
    let doctor = openfang.run(&["doctor", "--offline"]).stdout;
    assert!(doctor.contains("shell_exec runs nothing"), "{doctor}");
}
