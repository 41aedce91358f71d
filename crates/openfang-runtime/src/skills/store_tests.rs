//! Private copies: whole or not there, and hashed whenever they are read.

use std::collections::BTreeSet;
use std::fs;

use super::SkillStore;
use crate::skills::{SkillFault, SkillFiles, SkillPackage};

fn skill(body: &str) -> (SkillFiles, SkillPackage) {
    let mut files = SkillFiles::default();
    let text = format!("---\nname: a\ndescription: d\n---\n{body}");
    files.add("SKILL.md", text.into_bytes()).unwrap();
    files.add("references/x.md", b"X".to_vec()).unwrap();
    let package = SkillPackage::of(&files, None).unwrap();
    (files, package)
}

#[test]
fn a_copy_is_read_back_as_it_was_and_others_are_removed() {
    let home = tempfile::tempdir().unwrap();
    let store = SkillStore::at(home.path().join("store"));
    let ((one, one_package), (two, two_package)) = (skill("one"), skill("two"));
    store.put(&one, &one_package).unwrap();
    store.put(&one, &one_package).unwrap();
    store.put(&two, &two_package).unwrap();
    assert_eq!(store.files(&one_package.digest).unwrap(), one);
    assert_eq!(store.read(&two_package.digest, &two_package.files[1]).unwrap(), b"X");

    fs::create_dir(home.path().join("store/.new-unfinished")).unwrap();
    store.keep_only(&BTreeSet::from([two_package.digest.clone()])).unwrap();

    store.files(&one_package.digest).unwrap_err();
    assert_eq!(store.files(&two_package.digest).unwrap(), two);
    assert_eq!(fs::read_dir(home.path().join("store")).unwrap().count(), 1);
}

#[test]
fn other_bytes_than_those_that_are_known_are_never_given() {
    let home = tempfile::tempdir().unwrap();
    let store = SkillStore::at(home.path().to_owned());
    let (files, package) = skill("one");
    store.put(&files, &package).unwrap();
    let path = home.path().join(&package.digest).join("references/x.md");
    for other in ["Y", "", "XX"] {
        fs::write(&path, other).unwrap();
        let read = store.read(&package.digest, &package.files[1]);
        assert!(matches!(read, Err(SkillFault::Changed { .. })), "{other:?}");
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
    store.read(&package.digest, &package.files[1]).unwrap_err();

    store.put(&files, &package).unwrap();
    assert_eq!(store.read(&package.digest, &package.files[1]).unwrap(), b"X");
}
