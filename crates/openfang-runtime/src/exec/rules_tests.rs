//! Which program a rule is about, by whichever name it is run.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

/// A directory with programs, which is the search path, and a workspace.
struct Machine {
    directory: tempfile::TempDir,
    bin: PathBuf,
    work: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let (bin, work) = (root.join("bin"), root.join("work"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&work).unwrap();
        let machine = Self { directory, bin, work };
        for name in ["tool", "other", "busybox", "python3.11"] {
            machine.program(&machine.bin.join(name));
        }
        for (file, link) in [("busybox", "ls"), ("busybox", "rm"), ("tool", "alias"), ("python3.11", "helper")] {
            symlink(machine.bin.join(file), machine.bin.join(link)).unwrap();
        }
        machine.program(&machine.work.join("tool"));
        symlink(machine.bin.join("tool"), machine.work.join("linked")).unwrap();
        machine
    }

    fn program(&self, path: &Path) {
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What rules say about a program with these arguments: denied by, and allowed.
    fn judge(&self, config: &str, agent: Option<&str>, program: &Path, arguments: &[&str]) -> (bool, bool) {
        let config: ExecConfig = toml::from_str(config).unwrap();
        let agent: Option<AgentExec> = agent.map(|text| toml::from_str(text).unwrap());
        let rules = Rules { config: &config, agent: agent.as_ref() };
        let file = program.canonicalize().unwrap();
        let found = FoundProgram {
            path: program,
            file: &file,
            is_in_workspace: program.starts_with(&self.work) || file.starts_with(&self.work),
            root: &self.work,
            search: self.bin.as_os_str(),
        };
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        (rules.denial(&found, &arguments).is_some(), rules.allow(&found, &arguments))
    }

    fn bin(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    fn work(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }
}

#[test]
fn a_name_in_a_rule_is_the_program_of_the_search_path_and_no_other() {
    let machine = Machine::new();
    let allowed = |program: PathBuf| machine.judge("allow = [\"tool *\"]", None, &program, &["x"]).1;

    assert!(allowed(machine.bin("tool")));
    assert!(!allowed(machine.bin("other")));
    assert!(!allowed(machine.bin("alias")), "another name of the file may do something else");
    assert!(!allowed(machine.work("tool")), "a file of the workspace with the same name");
    assert!(!allowed(machine.work("linked")));
    assert!(machine.directory.path().exists());
}

#[test]
fn a_file_of_the_workspace_takes_a_rule_that_says_unsafe() {
    let machine = Machine::new();
    let rule = "allow = [{ command = \"./tool *\", unsafe = true }]";

    assert!(machine.judge(rule, None, &machine.work("tool"), &["x"]).1);
    assert!(machine.judge(rule, None, &machine.work("./tool"), &["x"]).1);
    assert!(!machine.judge(rule, None, &machine.bin("tool"), &["x"]).1);
    let path = format!("allow = [\"{} *\"]", machine.work("tool").display());
    assert!(!machine.judge(&path, None, &machine.work("tool"), &["x"]).1, "an absolute path is no way round");
}

#[test]
fn a_denial_finds_the_program_by_every_name() {
    let machine = Machine::new();
    let config = "allow = [{ command = \"*\", unsafe = true }]\ndeny = [\"tool\"]";
    for program in [machine.bin("tool"), machine.bin("alias"), machine.work("tool"), machine.work("linked")] {
        assert!(machine.judge(config, None, &program, &["x"]).0, "{program:?}");
    }
    assert_eq!(machine.judge(config, None, &machine.bin("other"), &[]), (false, true));
    let config = "deny = [\"rm *\"]";
    assert!(machine.judge(config, None, &machine.bin("rm"), &["-rf", "/"]).0);
    assert!(!machine.judge(config, None, &machine.bin("ls"), &[]).0, "one file, two programs");
}

#[test]
fn a_star_does_not_cover_an_interpreter_behind_another_name() {
    let machine = Machine::new();

    assert!(!machine.judge("allow = [\"helper *\"]", None, &machine.bin("helper"), &["-c", "x"]).1);
    assert!(
        machine
            .judge("allow = [\"helper build.py\"]", None, &machine.bin("helper"), &["build.py"])
            .1
    );
}

#[test]
fn an_agent_narrows_and_widens_nothing() {
    let machine = Machine::new();
    let tool = machine.bin("tool");
    let rows = [
        ("allow = [\"tool *\"]", None, (false, true)),
        ("allow = [\"tool *\"]", Some(""), (false, true)),
        ("allow = [\"tool *\"]", Some("allow = []"), (false, false)),
        ("allow = [\"tool *\"]", Some("allow = [\"tool x\"]"), (false, true)),
        ("allow = [\"tool *\"]", Some("allow = [\"tool y\"]"), (false, false)),
        ("allow = []", Some("allow = [\"tool *\"]"), (false, false)),
        ("allow = [\"tool *\"]", Some("deny = [\"tool x\"]"), (true, true)),
        ("allow = [\"tool *\"]\ndeny = [\"tool\"]", Some("allow = [\"tool *\"]"), (true, true)),
    ];
    for (config, agent, expected) in rows {
        assert_eq!(machine.judge(config, agent, &tool, &["x"]), expected, "{config} / {agent:?}");
    }
    let config: ExecConfig = toml::from_str("network = false\ntimeout_secs = 60\noutput_bytes = 4096").unwrap();
    let agent: AgentExec = toml::from_str("network = true\ntimeout_secs = 90\noutput_bytes = 9999").unwrap();
    let rules = Rules { config: &config, agent: Some(&agent) };
    assert_eq!(
        (rules.network(), rules.seconds(None), rules.seconds(Some(100)), rules.output_bytes()),
        (false, 60, 90, 4_096)
    );
}
