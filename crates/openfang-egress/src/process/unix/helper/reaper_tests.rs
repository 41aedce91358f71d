//! What the reaper takes on its line.

use std::io::Read as _;

use super::*;

fn notice(notice: &Notice) -> String {
    serde_json::to_string(notice).unwrap() + "\n"
}

#[test]
fn it_answers_every_notice_and_knows_what_is_left() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let home = std::path::PathBuf::from("/tmp/h");
    for group in [11, 12] {
        let ward = ChildResources::new(group, None, Some(home.clone()));
        ours.write_all(notice(&Notice::Watch(ward)).as_bytes()).unwrap();
    }
    ours.write_all(notice(&Notice::Forget(11)).as_bytes()).unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    let mut wards = HashMap::new();

    listen(theirs.into(), &mut wards);

    let mut answers = String::new();
    ours.read_to_string(&mut answers).unwrap();
    assert_eq!(answers, "...");
    assert_eq!(wards, HashMap::from([(12, ChildResources::new(12, None, Some(home)))]));
}

#[test]
fn a_line_that_breaks_is_the_end_and_what_was_known_stays_known() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(notice(&Notice::Watch(ChildResources::new(12, None, None))).as_bytes())
        .unwrap();
    ours.write_all(b"rubbish\n").unwrap();
    let mut wards = HashMap::new();

    listen(theirs.into(), &mut wards);

    assert_eq!(wards.len(), 1);
}

#[test]
fn what_dead_children_left_on_disk_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir_all(home.join("a/b")).unwrap();
    std::fs::write(directory.path().join("ours"), "").unwrap();
    std::os::unix::fs::symlink(directory.path(), home.join("link")).unwrap();

    // A number beyond what the system gives out.
    sweep(vec![ChildResources::new(i32::MAX, None, Some(home.clone()))]);

    assert!(!home.exists());
    assert!(directory.path().join("ours").exists());
}
