//! The space that is set aside; `tests/disk.rs` has a disk that is full.

use super::*;

#[test]
fn space_is_set_aside_for_the_owner_alone_and_kept_while_the_disk_has_room() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("a.db");

    let mut reserve = Reserve::beside(&database);

    let found = directory.path().join("a.reserve").metadata().unwrap();
    assert_eq!((reserve.is_full(), found.len()), (true, reserve.bytes));
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777, 0o600);
    assert!(!reserve.give_back(), "the disk is not full");
    assert!(Reserve::beside(&database).is_full(), "another process finds it");
}

#[test]
fn an_emptied_reserve_is_filled_again_when_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let mut reserve = Reserve::beside(&directory.path().join("a.db"));
    reserve.empty().unwrap();
    reserve.is_full = false;

    reserve.fill();

    assert!(reserve.is_full());
    assert_eq!(reserve.path.metadata().unwrap().len(), reserve.bytes);
}

#[test]
fn a_quota_that_is_used_up_is_a_full_disk() {
    for error in [rustix::io::Errno::NOSPC, rustix::io::Errno::DQUOT] {
        assert!(is_lack_of_room(&error.into()), "{error}");
    }
    assert!(!is_lack_of_room(&rustix::io::Errno::IO.into()));
}

#[test]
fn what_is_written_to_try_the_disk_is_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let reserve = Reserve::beside(&directory.path().join("a.db"));

    reserve.try_write().unwrap();

    assert_eq!(reserve.path.metadata().unwrap().len(), reserve.bytes);
}
