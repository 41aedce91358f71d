//! PTH-07: too much to read, to list, to write.

use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};

use super::fixture::{Fixture, variant};
use crate::workspace::{FileBytes, Listing};

#[test]
fn a_huge_sparse_file_is_read_up_to_the_limit() {
    let fixture = Fixture::new();
    let size = 10 * 1024 * 1024 * 1024;
    File::create(fixture.root.join("huge")).unwrap().set_len(size).unwrap();
    let started = Instant::now();

    let read = fixture.workspace.read("huge", 100_000).unwrap();

    assert_eq!(read, FileBytes { bytes: vec![0; 100_000], size, truncated: true });
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn the_read_limit_is_exact() {
    let fixture = Fixture::new();
    let read = |max| fixture.workspace.read("file.txt", max).unwrap();

    assert_eq!(read(0), FileBytes { bytes: vec![], size: 5, truncated: true });
    assert_eq!(read(4), FileBytes { bytes: b"hell".to_vec(), size: 5, truncated: true });
    assert_eq!(read(5), FileBytes { bytes: b"hello".to_vec(), size: 5, truncated: false });
    assert_eq!(read(usize::MAX), FileBytes { bytes: b"hello".to_vec(), size: 5, truncated: false });
}

#[test]
fn a_crowded_directory_is_listed_up_to_the_limit() {
    let fixture = Fixture::new();
    let crowd = fixture.root.join("crowd");
    fs::create_dir(&crowd).unwrap();
    for number in (0..20_000).rev() {
        File::create(crowd.join(format!("{number:05}"))).unwrap();
    }

    let listing = fixture.workspace.list("crowd", 1_000).unwrap();

    let names: Vec<String> = listing.entries.iter().map(|entry| entry.name.clone()).collect();
    let expected: Vec<String> = (0..1_000).map(|number| format!("{number:05}")).collect();
    assert_eq!(names, expected, "the first ones by name, whatever order the disk keeps them in");
    assert!(listing.truncated);
    assert!(!fixture.workspace.list("crowd", 20_000).unwrap().truncated);
    assert_eq!(fixture.workspace.list("crowd", 0).unwrap(), Listing { entries: vec![], truncated: true });
}

/// Runs itself again in a shell that limits file sizes, which is the one full disk a test can have without being root.
#[test]
fn a_write_that_does_not_fit_leaves_the_old_file_and_nothing_else() {
    if getrlimit(Resource::Fsize).current.is_some() {
        write_more_than_fits();
        return;
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::a_write_that_does_not_fit_leaves_the_old_file_and_nothing_else");
    // Ignored before exec, the signal stays ignored: the write gets an error instead of killing the process.
    let script = r#"trap "" XFSZ; ulimit -f 64; exec "$0" --exact "$1""#;

    #[expect(clippy::disallowed_methods, reason = "the limit is the process's, so it needs a process of its own")]
    let output = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(std::env::current_exe().unwrap())
        .arg(&name)
        .output();

    let output = output.unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && report.contains("1 passed"), "{report}");
}

fn write_more_than_fits() {
    let fixture = Fixture::new();

    let old = fixture.workspace.write("file.txt", &[b'x'; 1_000_000]).unwrap_err();
    let new = fixture.workspace.write("new.txt", &[b'x'; 1_000_000]).unwrap_err();

    assert_eq!([variant(&old), variant(&new)], ["TooLarge", "TooLarge"]);
    assert_eq!(fixture.names("."), ["dir", "file.txt"]);
    assert_eq!(fixture.read_text("file.txt"), "hello");
    fixture.workspace.write("small.txt", b"fits").unwrap();
}

#[test]
fn every_walk_gives_its_descriptors_back() {
    let fixture = Fixture::new();
    let deep = vec!["d"; 60].join("/");
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    fixture.workspace.write(&format!("{deep}/f"), b"x").unwrap();
    let before = open();

    for _ in 0..50 {
        fixture.workspace.read(&format!("{deep}/f"), 1).unwrap();
        fixture.workspace.list(&format!("{deep}/none"), 1).unwrap_err();
    }

    // Other tests of this process open files too: leaking would cost thousands.
    assert!(open() < before + 1_000);
}
