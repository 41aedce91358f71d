//! `openfang skill`, with the real binary, in this process and through a daemon.

use serde_json::Value;

use super::fixture::PDF;
use crate::support::binary::{Openfang, Ran};

fn skill(openfang: &Openfang, arguments: &[&str]) -> Ran {
    openfang.run(&[&["skill"], arguments, &["--json"]].concat())
}

fn state(openfang: &Openfang, name: &str) -> Value {
    let listed = skill(openfang, &["list"]).json();
    let skills = listed["skills"].as_array().unwrap();
    skills.iter().find(|skill| skill["name"] == name).cloned().unwrap_or_default()
}

#[test]
fn a_skill_is_written_trusted_enabled_changed_and_removed() {
    for with_daemon in [false, true] {
        let openfang = Openfang::new();
        assert_eq!(openfang.run(&["init", "--yes"]).code, 0);
        let daemon = with_daemon.then(|| openfang.start());
        let new = skill(&openfang, &["new", "release-notes", "--description", "Writes: release \"notes\""]);
        assert_eq!(new.code, 0, "{new:?}");
        assert_eq!(skill(&openfang, &["new", "release-notes"]).code, 2);
        assert_eq!(state(&openfang, "release-notes")["state"], "installed");
        let early = openfang.run(&["skill", "enable", "release-notes"]);
        assert_eq!(early.code, 1);
        assert!(early.stderr.contains("openfang skill trust"), "{early:?}");

        assert_eq!(skill(&openfang, &["trust", "release-notes", "--enable"]).code, 0);
        let trusted = state(&openfang, "release-notes");
        assert_eq!((&trusted["state"], &trusted["active"]), (&"trusted".into(), &true.into()), "{trusted}");

        openfang.write("skills/release-notes/SKILL.md", "---\nname: release-notes\ndescription: other\n---\nNew.\n");
        let shown = openfang.run(&["skill", "show", "release-notes"]);
        assert!(shown.stdout.contains("changed since it was trusted") && shown.stdout.contains("+New."), "{shown:?}");
        assert_eq!(state(&openfang, "release-notes")["state"], "changed");

        assert_eq!(skill(&openfang, &["disable", "release-notes"]).code, 0);
        assert_eq!(skill(&openfang, &["remove", "release-notes"]).code, 0);
        assert_eq!(state(&openfang, "release-notes")["state"], "installed");
        let missing = skill(&openfang, &["show", "release-note"]);
        assert!(missing.code == 1 && missing.stderr.contains("did you mean release-notes?"), "{missing:?}");
        drop(daemon);
    }
}

#[test]
fn a_directory_is_validated_and_installed_and_a_project_is_trusted() {
    let openfang = Openfang::new();
    assert_eq!(openfang.run(&["init", "--yes"]).code, 0);
    let source = openfang.scratch("pdf-forms");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("SKILL.md"), PDF).unwrap();
    let path = source.to_str().unwrap();

    let valid = openfang.run(&["skill", "validate", path]);
    assert!(valid.code == 0 && valid.stdout.contains("pdf-forms can be used; 0 warnings"), "{valid:?}");
    assert_eq!(skill(&openfang, &["install", path]).code, 2);
    assert_eq!(skill(&openfang, &["install", path, "--yes"]).code, 0);
    assert_eq!(state(&openfang, "pdf-forms")["state"], "installed");

    let project = openfang.scratch("project");
    std::fs::create_dir_all(project.join(".claude/skills/own")).unwrap();
    std::fs::write(project.join(".claude/skills/own/SKILL.md"), "---\nname: own\ndescription: d\n---\n").unwrap();
    assert_eq!(state(&openfang, "own"), Value::Null);
    assert_eq!(skill(&openfang, &["trust", project.to_str().unwrap()]).code, 0);
    assert_eq!(state(&openfang, "own")["state"], "installed");
    assert_eq!(skill(&openfang, &["remove", project.to_str().unwrap()]).code, 0);
    assert_eq!(state(&openfang, "own"), Value::Null);

    std::fs::write(source.join("SKILL.md"), "no frontmatter").unwrap();
    let invalid = openfang.run(&["skill", "validate", path]);
    assert!(invalid.code == 1 && invalid.stderr.contains("does not begin with a line `---`"), "{invalid:?}");
}
