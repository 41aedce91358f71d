//! The page about conformance.

use super::*;

fn unpassed(name: &str, why: &[&str]) -> Unpassed {
    Unpassed { name: name.to_owned(), why: why.iter().map(|text| (*text).to_owned()).collect() }
}

#[test]
fn the_page_counts_and_gives_each_reason_once() {
    let record = |about: &str| Record {
        about: about.to_owned(),
        passed: vec!["a".to_owned(), "b".to_owned()],
        failed: vec![unpassed("c", &["it is\nred", "and | blue"])],
        skipped: vec![unpassed("d", &[])],
    };

    let page = page(&[record("one"), record("other")], "SDKS", "1.2.3");

    assert!(page.contains("` 1.2.3, scenarios:"), "{page}");
    assert!(page.contains("| one | 2 | 1 | 1 |\n| other | 2 | 1 | 1 |\n"), "{page}");
    assert_eq!(page.matches("- `c` failed: it is red; and   blue\n").count(), 1, "{page}");
    assert_eq!(page.matches("- `d` skipped: the suite gives no reason\n").count(), 1, "{page}");
    assert!(page.ends_with("SDKS"));
}

#[test]
fn every_sdk_of_the_manifests_has_a_version() {
    let packages = fs::read_to_string(root().join(PACKAGES)).unwrap();

    let table = sdks(&root(), &packages).unwrap();

    assert!(table.contains("| `@a2a-js/sdk` | 0.2.5 | npm |") && !table.contains("node-linux"), "{table}");
    assert_eq!(table.lines().filter(|line| line.ends_with("| PyPI |")).count(), PYTHON.len(), "{table}");
    assert!(!version(&packages, SUITE).unwrap().is_empty());
}

#[test]
fn a_record_that_cannot_be_read_is_named_and_a_missing_directory_has_none() {
    let directory = tempfile::tempdir().unwrap();
    assert!(records(&directory.path().join("none")).unwrap().is_empty());

    fs::write(directory.path().join("x.json"), "{}").unwrap();

    assert!(records(directory.path()).unwrap_err().to_string().contains("x.json"));
}
