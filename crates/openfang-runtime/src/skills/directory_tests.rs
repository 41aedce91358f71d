//! What is refused in a directory, with real links, pipes and second names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::read;
use crate::skills::SkillFault;
use crate::workspace::{Workspace, WorkspaceError};

fn skill() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join("s/references")).unwrap();
    fs::write(place.path().join("s/SKILL.md"), "text").unwrap();
    fs::write(place.path().join("s/references/a.md"), "A").unwrap();
    place
}

fn read_all(place: &Path) -> Result<Vec<String>, SkillFault> {
    let files = read(&Workspace::view(place).unwrap(), "s")?;
    Ok(files.iter().map(|(path, _)| path.to_owned()).collect())
}

#[test]
fn all_files_are_read_and_the_history_is_left_out() {
    let place = skill();
    fs::create_dir_all(place.path().join("s/.git/objects")).unwrap();
    fs::write(place.path().join("s/.git/config"), "x").unwrap();

    assert_eq!(read_all(place.path()).unwrap(), ["SKILL.md", "references/a.md"]);
}

#[test]
fn links_are_refused_wherever_they_lead() {
    for target in ["/etc/passwd", "SKILL.md", "../..", "nowhere"] {
        let place = skill();
        symlink(target, place.path().join("s/link")).unwrap();
        assert!(matches!(read_all(place.path()), Err(SkillFault::Link(path)) if path == "link"), "{target}");
    }
}

#[test]
fn pipes_and_second_names_are_refused_without_waiting() {
    let place = skill();
    mknodat(CWD, place.path().join("s/pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert!(matches!(read_all(place.path()), Err(SkillFault::Special(path)) if path == "pipe"));

    let place = skill();
    fs::write(place.path().join("elsewhere"), "secret").unwrap();
    fs::hard_link(place.path().join("elsewhere"), place.path().join("s/linked")).unwrap();
    assert!(matches!(read_all(place.path()), Err(SkillFault::Unreadable(WorkspaceError::HardLink { .. }))));
}

#[test]
fn a_skill_that_is_a_link_itself_cannot_lead_outside() {
    let (place, elsewhere) = (tempfile::tempdir().unwrap(), skill());
    symlink(elsewhere.path().join("s"), place.path().join("s")).unwrap();

    assert!(matches!(read_all(place.path()), Err(SkillFault::Unreadable(WorkspaceError::Outside { .. }))));
}

#[test]
fn depth_and_number_of_files_are_limited() {
    let place = skill();
    fs::create_dir_all(place.path().join("s/1/2/3/4/5/6/7/8/9")).unwrap();
    assert!(matches!(read_all(place.path()), Err(SkillFault::TooDeep)));

    for number in [600, 20_000] {
        let place = skill();
        for number in 0..number {
            fs::write(place.path().join(format!("s/{number}")), "").unwrap();
        }
        assert!(matches!(read_all(place.path()), Err(SkillFault::TooManyFiles)));
    }
}

#[test]
fn a_name_that_is_not_text_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = skill();
    let name = std::ffi::OsStr::from_bytes(b"a\xff");
    fs::write(place.path().join("s").join(name), "").unwrap();

    read_all(place.path()).unwrap_err();
}
