//! What the gate lets through.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::fixture::{Fixture, variant};
use crate::workspace::{Entry, EntryKind, FileBytes, Listing, Workspace, Written};

#[test]
fn a_written_file_is_read_back() {
    let fixture = Fixture::new();

    let first = fixture.workspace.write("new/deep/note.txt", b"one").unwrap();
    let second = fixture.workspace.write("./new//deep/note.txt", b"three").unwrap();
    let read = fixture.workspace.read("new/deep/note.txt", 100).unwrap();

    assert_eq!(first, Written { bytes: 3, created: true });
    assert_eq!(second, Written { bytes: 5, created: false });
    assert_eq!(read, FileBytes { bytes: b"three".to_vec(), size: 5, truncated: false });
    assert_eq!(fixture.names("new/deep"), ["note.txt"], "no draft is left behind");
    fixture.assert_outside_unchanged();
}

#[test]
fn new_files_and_directories_are_private() {
    let fixture = Fixture::new();

    fixture.workspace.write("new/note.txt", b"").unwrap();

    assert_eq!(fs::metadata(fixture.root.join("new")).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(fixture.root.join("new/note.txt")).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_missing_root_is_created_for_us_alone_and_pinned() {
    let top = tempfile::tempdir().unwrap();
    let root = top.path().join("data/ws");
    let workspace = Workspace::open(&root, &[]).unwrap();

    fs::rename(&root, top.path().join("moved")).unwrap();
    fs::create_dir(&root).unwrap();
    workspace.write("note.txt", b"text").unwrap();

    assert_eq!(fs::metadata(top.path().join("data")).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::read(top.path().join("moved/note.txt")).unwrap(), b"text");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn a_root_that_is_a_file_is_refused() {
    let fixture = Fixture::new();
    let error = Workspace::open(&fixture.root.join("file.txt"), &[]).unwrap_err();
    assert_eq!(variant(&error), "NotADirectory");
}

#[test]
fn a_directory_is_listed_by_name_with_kinds_and_sizes() {
    let fixture = Fixture::new();
    fixture.link("a-link", "file.txt");
    let entry = |name: &str, kind, size| Entry { name: name.to_owned(), kind, size };

    let listing = fixture.workspace.list(".", 10).unwrap();

    let entries = vec![
        entry("a-link", EntryKind::Link, 0),
        entry("dir", EntryKind::Directory, 0),
        entry("file.txt", EntryKind::File, 5),
    ];
    assert_eq!(listing, Listing { entries, truncated: false });
}

#[test]
fn links_that_stay_inside_are_followed() {
    let fixture = Fixture::new();
    fixture.file("dir/sub/deep.txt", "deep");
    fixture.link("to-file", "dir/inside.txt");
    fixture.link("to-dir", "dir");
    fixture.link("dir/sub/up", "../../dir/./sub//..");
    fixture.link("chain", "to-dir/sub/up/inside.txt");

    assert_eq!(fixture.read_text("to-file"), "inside");
    assert_eq!(fixture.read_text("to-dir/sub/deep.txt"), "deep");
    assert_eq!(fixture.read_text("chain"), "inside");
    assert_eq!(fixture.names("dir/sub/up"), ["inside.txt", "sub"]);
    fixture.assert_outside_unchanged();
}

#[test]
fn writing_through_an_inner_link_changes_the_file_and_keeps_the_link() {
    let fixture = Fixture::new();
    fixture.link("to-file", "dir/inside.txt");
    fixture.link("to-new", "dir/new.txt");
    fixture.link("to-nowhere", "missing/new.txt");

    assert!(!fixture.workspace.write("to-file", b"changed").unwrap().created);
    assert!(fixture.workspace.write("to-new", b"new").unwrap().created);
    let nowhere = fixture.workspace.write("to-nowhere", b"new").unwrap_err();

    assert_eq!(fixture.read_text("dir/inside.txt"), "changed");
    assert_eq!(fixture.read_text("dir/new.txt"), "new");
    assert!(fixture.root.join("to-file").is_symlink());
    assert_eq!(variant(&nowhere), "NotFound");
    assert!(!fixture.root.join("missing").exists(), "only directories that the caller named are created");
}

#[test]
fn what_is_missing_is_not_found_and_a_file_is_no_directory() {
    let fixture = Fixture::new();

    assert_eq!(variant(&fixture.workspace.read("none", 9).unwrap_err()), "NotFound");
    assert_eq!(variant(&fixture.workspace.read("none/none", 9).unwrap_err()), "NotFound");
    assert_eq!(variant(&fixture.workspace.list("none/", 9).unwrap_err()), "NotFound");
    fixture.assert_refused("file.txt/below", "NotADirectory");
    assert!(!fixture.root.join("none").exists());
}

#[test]
fn overwriting_one_hard_link_leaves_the_other_alone() {
    let mut fixture = Fixture::new();
    fs::hard_link(fixture.outside("outside/canary.txt"), fixture.root.join("shared")).unwrap();
    fixture.remember_outside();

    fixture.workspace.write("shared", b"mine now").unwrap();

    // The link count is all that changes outside: content and inode stay.
    assert_eq!(fs::read_to_string(fixture.outside("outside/canary.txt")).unwrap(), super::fixture::CANARY);
}

#[test]
fn a_file_that_its_owner_made_read_only_is_not_replaced() {
    let fixture = Fixture::new();
    if rustix::process::geteuid().is_root() {
        // Nothing is read-only to root.
        return;
    }
    fs::set_permissions(fixture.root.join("file.txt"), fs::Permissions::from_mode(0o400)).unwrap();

    let error = fixture.workspace.write("file.txt", b"x").unwrap_err();

    assert_eq!(error.to_string(), "'file.txt' cannot be used: permission denied");
    assert_eq!(fixture.read_text("file.txt"), "hello");
}

#[test]
fn odd_names_are_listed_escaped() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new();
    fs::create_dir(fixture.root.join("odd")).unwrap();
    for name in [b"\x1b[31mred".as_slice(), b"latin\xe9", b"line\nbreak", "rtl\u{202e}".as_bytes()] {
        fs::write(fixture.root.join("odd").join(OsStr::from_bytes(name)), "").unwrap();
    }

    let names = fixture.names("odd");

    assert_eq!(names, ["\\u{1b}[31mred", "latin\\xe9", "line\\nbreak", "rtl\\u{202e}"]);
}

#[test]
fn concurrent_writers_never_mix_their_content() {
    let fixture = Fixture::new();
    let contents: Vec<Vec<u8>> = (b'a'..=b'd').map(|letter| vec![letter; 50_000]).collect();

    std::thread::scope(|scope| {
        for content in &contents {
            scope.spawn(|| {
                for _ in 0..10 {
                    fixture.workspace.write("shared.txt", content).unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                if let Ok(read) = fixture.workspace.read("shared.txt", 100_000) {
                    assert!(contents.contains(&read.bytes));
                }
            }
        });
    });

    assert_eq!(fixture.names("."), ["dir", "file.txt", "shared.txt"]);
}

#[test]
fn what_a_write_would_make_is_foreseen_and_not_made() {
    let fixture = Fixture::new();
    fixture.workspace.write("there/old.txt", b"old").unwrap();
    let foreseen = |path: &str| fixture.workspace.foresee(path);

    let new = foreseen("there/./a/b/new.txt").unwrap();
    assert_eq!(
        (new.path(), new.new_directories()),
        ("there/a/b/new.txt", &["there/a".to_owned(), "there/a/b".to_owned()][..])
    );
    assert!(!fixture.root.join("there/a").exists());
    for path in ["there/old.txt", "there/new.txt", "new.txt"] {
        assert_eq!((foreseen(path).unwrap().path(), foreseen(path).unwrap().new_directories()), (path, &[][..]));
    }
    for path in ["there", "there/", "new/", "there/old.txt/new.txt"] {
        let [foreseen, written] = [foreseen(path).map(drop), fixture.workspace.write(path, b"").map(drop)];
        assert_eq!(foreseen.unwrap_err().to_string(), written.unwrap_err().to_string(), "{path}");
    }

    fixture.workspace.write_foreseen(&new, b"new").unwrap();
    assert_eq!(fixture.workspace.read("there/a/b/new.txt", 10).unwrap().bytes, b"new");
}

#[test]
fn a_way_that_changed_since_it_was_foreseen_is_not_taken() {
    let fixture = Fixture::new();
    fixture.workspace.write("one/x", b"").unwrap();
    fixture.workspace.write("two/x", b"").unwrap();
    std::os::unix::fs::symlink("one", fixture.root.join("link")).unwrap();
    let foreseen = fixture.workspace.foresee("link/new.txt").unwrap();
    assert_eq!(foreseen.path(), "one/new.txt");
    std::fs::remove_file(fixture.root.join("link")).unwrap();
    std::os::unix::fs::symlink("two", fixture.root.join("link")).unwrap();

    assert!(fixture.workspace.write_foreseen(&foreseen, b"new").is_err());
    assert!(!fixture.root.join("two/new.txt").exists());
}
