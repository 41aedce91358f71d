//! Commands that are looked at.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use openfang_types::config::ExecConfig;
use proptest::prelude::*;

use super::*;

struct Ground {
    directory: tempfile::TempDir,
    place: ProgramPlace,
}

impl Ground {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let root = top.join("workspaces/own");
        std::fs::create_dir_all(&root).unwrap();
        let closed = vec![top.join("workspaces"), top.join("data")];
        let place = ProgramPlace { root: root.clone(), directory: root, closed, read: Vec::new() };
        Self { directory, place }
    }

    fn script(&self, path: &str) {
        let path = self.directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn plan(&self, command: &str) -> Result<Plan, ToolFailure> {
        self.plan_with(command, &[])
    }

    fn plan_with(&self, command: &str, arguments: &[String]) -> Result<Plan, ToolFailure> {
        let config = ExecConfig::default();
        Plan::of(&ExecRequest { command, arguments }, &self.place, &Rules { config: &config, agent: None })
    }

    fn refusal(&self, command: &str) -> String {
        match self.plan(command) {
            Ok(plan) => panic!("{command} is {:?}", plan.program),
            Err(failure) => failure.to_string(),
        }
    }
}

#[test]
fn a_question_names_the_file_and_the_rule_that_answers_it() {
    let ground = Ground::new();
    ground.script("workspaces/own/build.sh");

    let Ruling::Ask(why) = ground.plan("ls -l 'a b'").unwrap().ruling else { panic!("not asked") };
    let ls = if Path::new("/usr/bin/ls").exists() { "/usr/bin/ls" } else { "/bin/ls" };
    assert!(why.contains(ls) && why.contains("add \"ls -l 'a b'\" to allow under [exec]"), "{why}");

    let Ruling::Ask(why) = ground.plan("echo 'a\u{202e}b'").unwrap().ruling else { panic!("not asked") };
    assert!(why.contains("a\\u202eb") && !why.contains('\u{202e}'), "{why}");

    let Ruling::Ask(why) = ground.plan("./build.sh").unwrap().ruling else { panic!("not asked") };
    assert!(
        why.contains("that agents can change") && why.contains("{ command = \"./build.sh\", unsafe = true }"),
        "{why}"
    );
}

#[test]
fn the_subject_changes_with_a_file_that_agents_can_change() {
    let ground = Ground::new();
    ground.script("workspaces/own/build.sh");
    let before = ground.plan("./build.sh").unwrap().subject;
    assert_eq!(ground.plan("./build.sh").unwrap().subject, before);

    std::fs::write(ground.place.root.join("build.sh"), "#!/bin/sh\necho other\n").unwrap();

    assert_ne!(ground.plan("./build.sh").unwrap().subject, before);
    assert_eq!(ground.plan("ls").unwrap().subject, ground.plan("ls -l").unwrap().subject);
}

#[test]
fn no_program_is_run_from_our_own_files_or_another_workspace() {
    let ground = Ground::new();
    for path in ["data/tool", "workspaces/other/tool"] {
        ground.script(path);
        let path = ground.directory.path().join(path).canonicalize().unwrap();
        assert!(ground.refusal(path.to_str().unwrap()).contains("not a program that can be run here"));
        let _ = std::fs::remove_file(ground.place.root.join("link"));
        symlink(&path, ground.place.root.join("link")).unwrap();
        assert!(ground.refusal("./link").contains("not a program that can be run here"));
    }
}

#[test]
fn what_lies_outside_is_not_told() {
    let ground = Ground::new();
    let there = ground.directory.path().join("secret");
    std::fs::write(&there, "x").unwrap();

    let known = ground.refusal(there.to_str().unwrap());
    let unknown = ground.refusal(ground.directory.path().join("nothing").to_str().unwrap());

    assert_eq!(known.replace("secret", "x"), unknown.replace("nothing", "x"));
}

#[test]
fn commands_that_are_no_commands_are_refused_in_words() {
    let ground = Ground::new();
    for (command, why) in [
        ("", "it is empty"),
        ("echo 'x", "not closed"),
        ("ls\nid", "line break"),
        ("../x", "contains `..`"),
        ("no-such-program-here", "no program `no-such-program-here`"),
        ("echo x\0y", "NUL"),
    ] {
        let said = ground.refusal(command);
        assert!(said.contains(why), "{command:?}: {said}");
    }
    let many: Vec<String> = vec!["x".to_owned(); 1_000_000];
    assert!(
        ground
            .plan_with("echo", &many)
            .is_err_and(|failure| failure.to_string().contains("too long"))
    );
    assert!(ground.plan_with("echo", &["x".repeat(200_000)]).is_err());
    assert!(
        ground
            .plan_with("echo", &["a\0b".to_owned()])
            .is_err_and(|failure| failure.to_string().contains("NUL"))
    );
    assert!(ground.refusal(&"x ".repeat(100_000)).contains("too long"));
    assert!(!ground.refusal("\u{1b}[2Jx").contains('\u{1b}'), "what a terminal obeys is escaped");
}

proptest! {
    #[test]
    fn whatever_the_words_are_they_are_arguments_of_the_first(words in proptest::collection::vec("[^\0\n\r]{0,20}", 0..8)) {
        let ground = Ground::new();
        let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();

        let plan = ground.plan(&format!("echo {}", quoted.join(" "))).unwrap();

        prop_assert_eq!(plan.program.name(), "echo");
        let given: Vec<String> = plan.arguments.iter().map(|word| word.to_str().unwrap().to_owned()).collect();
        prop_assert_eq!(given, words);
    }
}
