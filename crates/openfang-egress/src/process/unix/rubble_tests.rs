//! Rubble of every kind.

use std::os::unix::fs::symlink;
use std::time::Duration;

use super::*;

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

#[test]
fn files_links_and_closed_directories_go_and_what_links_lead_to_stays() {
    let directory = tempfile::tempdir().unwrap();
    let (home, outside) = (directory.path().join("home"), directory.path().join("outside"));
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("file"), "kept").unwrap();
    std::fs::create_dir_all(home.join("a/b/c")).unwrap();
    std::fs::create_dir_all(home.join("lifted-0")).unwrap();
    std::fs::write(home.join("a/b/file"), "").unwrap();
    symlink(&outside, home.join("a/link")).unwrap();
    symlink("nowhere", home.join("dangling")).unwrap();
    for closed in ["a/b/c", "a/b", "a"] {
        std::fs::set_permissions(home.join(closed), Permissions::from_mode(0o000)).unwrap();
    }

    assert!(remove(&home, later()));

    assert!(!home.exists());
    assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "kept");
}

#[test]
fn a_link_in_its_place_is_removed_and_nothing_more() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "kept").unwrap();
    let home = directory.path().join("home");
    symlink(directory.path(), &home).unwrap();

    assert!(remove(&home, later()));

    assert!(home.symlink_metadata().is_err());
    assert!(directory.path().join("file").exists());
    assert!(remove(&home, later()));
}

#[test]
fn it_is_deeper_than_any_path() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir(&home).unwrap();
    // Built from the inside out, since no path is as long as this is deep.
    let (inner, outer) = (home.join("d".repeat(200)), home.join("new"));
    for _ in 0..100 {
        std::fs::create_dir(&outer).unwrap();
        if inner.exists() {
            std::fs::rename(&inner, outer.join(inner.file_name().unwrap())).unwrap();
        }
        std::fs::rename(&outer, &inner).unwrap();
    }

    assert!(remove(&home, later()));
}

#[test]
fn when_its_time_is_over_it_stops_and_goes_on_later() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir_all(home.join("inner")).unwrap();
    for index in 0..100 {
        std::fs::write(home.join("inner").join(index.to_string()), "").unwrap();
    }

    assert!(!remove(&home, Instant::now()));
    assert!(home.exists());
    assert!(remove(&home, later()));
}
