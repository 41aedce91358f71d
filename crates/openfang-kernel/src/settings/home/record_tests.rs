//! What a home remembers: how it is kept, and what counts as lost.

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().join("home"));
    home.prepare().unwrap();
    (directory, home)
}

fn record() -> HomeRecord {
    HomeRecord { id: Some(Uuid::from_u128(7)), secret_key: Some("4f1c0a9d".to_owned()), ..HomeRecord::default() }
}

#[test]
fn a_new_home_remembers_nothing_and_then_what_it_was_told() {
    let (_directory, home) = home();
    assert_eq!(HomeRecord::read(&home).unwrap(), None);

    let memory = HomeMemory::open(&home, record()).unwrap();
    memory.saw_accounts(3, true);
    memory.saw_accounts(4, false);

    let expected = HomeRecord { accounts: 4, has_users: true, ..record() };
    assert_eq!(HomeRecord::read(&home).unwrap(), Some(expected));
}

#[test]
fn two_processes_do_not_overwrite_what_the_other_remembered() {
    let (_directory, home) = home();
    let [one, other] = [(); 2].map(|()| HomeMemory::open(&home, record()).unwrap());

    one.saw_accounts(1, true);
    other.update(|record| record.has_api_key = true).unwrap();

    let expected = HomeRecord { accounts: 1, has_users: true, has_api_key: true, ..record() };
    assert_eq!(HomeRecord::read(&home).unwrap(), Some(expected));
}

#[test]
fn a_record_that_cannot_be_understood_is_a_loss() {
    let (_directory, home) = home();
    for text in ["", "{", "[]", "null"] {
        std::fs::write(home.record(), text).unwrap();

        let read = HomeRecord::read(&home);

        assert!(matches!(read, Err(RecordError::Lost(HomeLoss::Record(_)))), "{text}: {read:?}");
    }
}

#[test]
fn protection_is_lost_when_nothing_is_left_of_it() {
    let with = |has_users, has_api_key| HomeRecord { has_users, has_api_key, ..record() };
    for (users, key) in [(true, false), (false, true), (true, true)] {
        assert_eq!(with(users, key).lost_protection(true, false), None);
        assert_eq!(with(users, key).lost_protection(false, true), None);
    }

    assert_eq!(with(false, false).lost_protection(false, false), None);
    assert_eq!(with(true, true).lost_protection(false, false), Some(HomeLoss::Users));
    assert_eq!(with(false, true).lost_protection(false, false), Some(HomeLoss::ApiKey));
}
