//! Skills as they are written: what is accepted with a warning, and what is refused.

use openfang_types::limits::{SKILL_FILES_MAX, SKILL_MAX_BYTES};

use super::{SkillFault, SkillFiles, SkillPackage, digest_of};

const TEXT: &str = "---\nname: pdf-forms\ndescription: Fills forms\n---\nBody\n";

fn files(entries: &[(&str, &str)]) -> SkillFiles {
    let mut files = SkillFiles::default();
    for (path, text) in entries {
        files.add(path, text.as_bytes().to_vec()).unwrap();
    }
    files
}

fn refused(entries: &[(&str, &str)]) -> String {
    SkillPackage::of(&files(entries), Some("pdf-forms")).unwrap_err().to_string()
}

#[test]
fn a_skill_has_its_name_its_files_and_one_digest_of_all() {
    let package = SkillPackage::of(&files(&[("SKILL.md", TEXT), ("references/a.md", "A")]), Some("pdf-forms")).unwrap();

    assert_eq!((package.name.as_str(), package.description.as_str()), ("pdf-forms", "Fills forms"));
    let paths: Vec<&str> = package.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "references/a.md"]);
    assert_eq!(package.digest, digest_of(&package.files));
    assert!(package.warnings.is_empty());
}

#[test]
fn any_change_of_any_file_changes_the_digest() {
    let digest = |entries: &[(&str, &str)]| SkillPackage::of(&files(entries), None).unwrap().digest;
    let digests = [
        digest(&[("SKILL.md", TEXT), ("a.md", "A")]),
        digest(&[("SKILL.md", TEXT), ("a.md", "B")]),
        digest(&[("SKILL.md", TEXT), ("b.md", "A")]),
        digest(&[("SKILL.md", TEXT)]),
        digest(&[("SKILL.md", TEXT), ("a.md", "A"), ("b.md", "")]),
    ];
    for (at, one) in digests.iter().enumerate() {
        assert!(digests.iter().skip(at + 1).all(|other| other != one));
    }
}

#[test]
fn a_name_unlike_its_directory_is_accepted_with_a_warning() {
    let package = SkillPackage::of(&files(&[("SKILL.md", TEXT)]), Some("forms")).unwrap();
    assert_eq!(package.warnings, ["the name is pdf-forms, and the directory is called \"forms\""]);
    let unnamed = SkillPackage::of(&files(&[("SKILL.md", "---\ndescription: d\n---\n")]), Some("forms")).unwrap();
    assert_eq!(unnamed.name.as_str(), "forms");
}

#[test]
fn what_cannot_be_used_is_refused_with_the_reason() {
    assert_eq!(refused(&[("readme.md", "x")]), "it has no SKILL.md");
    assert!(refused(&[("SKILL.md", "---\nname: a\n---\n")]).contains("there is no description"));
    assert!(refused(&[("SKILL.md", "---\nname: ../a\ndescription: d\n---\n")]).contains("is not a skill name"));
    assert!(refused(&[("SKILL.md", TEXT), ("skill.MD", "x")]).contains("one file on some systems"));
    assert!(refused(&[("SKILL.md", &format!("{TEXT}{}", "x".repeat(300_000)))]).contains("larger than"));
    let mut bytes = SkillFiles::default();
    bytes.add("SKILL.md", vec![0xff, 0xfe]).unwrap();
    assert!(matches!(SkillPackage::of(&bytes, None), Err(SkillFault::NotText)));
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    for path in ["../a", "/a", "a/../b", "a//b", "./a", "a/", "a\\b", "a\0b", "%2e%2e/a", "~/a", ""] {
        SkillFiles::default().add(path, Vec::new()).unwrap_err();
    }
}

#[test]
fn files_and_bytes_are_limited_and_no_path_comes_twice() {
    let mut many = SkillFiles::default();
    for number in 0..SKILL_FILES_MAX {
        many.add(&format!("{number}"), Vec::new()).unwrap();
    }
    assert!(matches!(many.add("one-more", Vec::new()), Err(SkillFault::TooManyFiles)));
    let mut large = SkillFiles::default();
    large.add("a", vec![0; SKILL_MAX_BYTES]).unwrap();
    assert_eq!(large.room(), 0);
    assert!(matches!(large.add("b", vec![0]), Err(SkillFault::TooLarge)));
    assert!(matches!(files(&[("a", "")]).add("a", Vec::new()), Err(SkillFault::Twice(_))));
}

#[test]
fn expected_tools_are_read_with_what_stands_in_parentheses() {
    let package = |allowed: &str| {
        let text = format!("---\nname: a\ndescription: d\nallowed-tools: {allowed}\n---\n");
        SkillPackage::of(&files(&[("SKILL.md", &text)]), None).unwrap().allowed_tools()
    };
    assert_eq!(package("file_read Bash(git add:*), web_fetch"), ["file_read", "Bash(git add:*)", "web_fetch"]);
    assert_eq!(package("[file_read, \"*\"]"), ["file_read", "*"]);
    assert!(package("{ a: b }").is_empty());
}

#[test]
fn a_directory_around_all_files_is_taken_away() {
    let flat = files(&[("x/SKILL.md", TEXT), ("x/a.md", "A")]).without_common_directory();
    assert_eq!(flat, files(&[("SKILL.md", TEXT), ("a.md", "A")]));
    let two = files(&[("x/SKILL.md", TEXT), ("y/a.md", "A")]);
    assert_eq!(two.clone().without_common_directory(), two);
}
