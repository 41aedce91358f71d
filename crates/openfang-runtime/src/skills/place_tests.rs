//! Which directories of a place are skills.

use std::fs;
use std::os::unix::fs::symlink;

use super::{SearchBudget, find};

fn write(place: &std::path::Path, directory: &str) {
    fs::create_dir_all(place.join(directory)).unwrap();
    let name = directory.rsplit('/').next().unwrap();
    fs::write(place.join(directory).join("SKILL.md"), format!("---\nname: {name}\ndescription: d\n---\n")).unwrap();
}

fn found(place: &std::path::Path) -> Vec<(String, bool)> {
    let found = find(place, &mut SearchBudget::default()).unwrap();
    found.into_iter().map(|skill| (skill.directory, skill.package.is_ok())).collect()
}

#[test]
fn skills_are_found_below_each_other_up_to_a_depth() {
    let place = tempfile::tempdir().unwrap();
    for directory in ["a", "group/b", "1/2/3/c", "1/2/3/4/5/too-deep", ".hidden/d", "a/inner"] {
        write(place.path(), directory);
    }
    fs::write(place.path().join("README.md"), "x").unwrap();

    let names: Vec<String> = found(place.path()).into_iter().map(|(directory, _)| directory).collect();

    assert_eq!(names, ["1/2/3/c", "a", "group/b"]);
}

#[test]
fn what_cannot_be_used_is_named_and_the_others_are_found() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "good");
    fs::create_dir(place.path().join("bad")).unwrap();
    fs::write(place.path().join("bad/SKILL.md"), "no frontmatter").unwrap();
    symlink("/etc", place.path().join("link")).unwrap();

    let all = [("bad".to_owned(), false), ("good".to_owned(), true), ("link".to_owned(), false)];
    assert_eq!(found(place.path()), all);
}

#[test]
fn a_place_may_be_a_skill_itself_or_missing() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "itself");

    let own = find(&place.path().join("itself"), &mut SearchBudget::default()).unwrap();

    assert_eq!((own[0].directory.as_str(), own[0].package.as_ref().unwrap().warnings.len()), (".", 0));
    assert!(found(&place.path().join("nowhere")).is_empty());
}

#[test]
fn a_search_ends_after_so_many_skills() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..520 {
        write(place.path(), &format!("s{number}"));
    }

    assert_eq!(found(place.path()).len(), 500);
}
