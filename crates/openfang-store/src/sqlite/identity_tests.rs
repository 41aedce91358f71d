//! A database that a home remembers: the right one is opened, and everything else is refused and left as it is.

use std::os::unix::fs::FileExt as _;

use uuid::Uuid;

use super::*;
use crate::DatabaseFile;

fn known(home: &Home, id: Uuid) -> Result<Sqlite, OpenError> {
    Sqlite::open_known(&home.path(), node(1), id)
}

fn refused(home: &Home, id: Uuid) -> OpenError {
    known(home, id).err().unwrap()
}

#[test]
fn a_database_keeps_the_id_that_it_was_made_with() {
    let home = Home::new();
    let id = home.open().home();

    assert_eq!(home.open().home(), id);
    assert_eq!(known(&home, id).unwrap().home(), id);
    assert!(matches!(refused(&home, Uuid::from_u128(7)), OpenError::OtherHome { .. }));
}

#[test]
fn a_database_of_an_earlier_program_gets_the_id_of_its_home() {
    let home = Home::new();
    drop(home.open());
    Connection::open(home.path())
        .unwrap()
        .execute("DELETE FROM meta WHERE key = 'home'", [])
        .unwrap();
    let id = Uuid::from_u128(7);

    assert_eq!(known(&home, id).unwrap().home(), id);
    assert_eq!(home.open().home(), id);
}

#[test]
fn a_database_that_is_lost_is_not_made_anew() {
    let (home, id) = (Home::new(), Uuid::from_u128(7));
    assert!(matches!(refused(&home, id), OpenError::Lost { why: Loss::Missing, .. }));
    assert!(!home.path().exists());

    fs::write(home.path(), b"").unwrap();
    assert!(matches!(refused(&home, id), OpenError::Lost { why: Loss::Empty, .. }));
    assert_eq!(fs::read(home.path()).unwrap(), b"");
}

#[tokio::test]
async fn a_log_that_is_damaged_at_any_byte_of_its_head_is_left_as_it_is() {
    let home = Home::new();
    let sqlite = home.open();
    create(&*sqlite.stores().tasks, new_task(&owner("ada"), "m")).await;
    let (id, log, file) = (sqlite.home(), fs::read(home.wal()).unwrap(), fs::read(home.path()).unwrap());
    for byte in (0..32).step_by(5).chain([40, 60, 4_000]) {
        let other = Home::new();
        let mut damaged = log.clone();
        damaged[byte] ^= 1;
        fs::write(other.path(), &file).unwrap();
        fs::write(other.wal(), &damaged).unwrap();

        // What is not looked at when a log is read (the counter of its checkpoints) may be anything.
        match known(&other, id) {
            Ok(opened) => assert_eq!(opened.home(), id, "{byte}"),
            Err(error) => {
                assert!(matches!(error, OpenError::Lost { why: Loss::NoTables, .. }), "{byte}: {error}");
                assert_eq!(fs::read(other.wal()).unwrap(), damaged, "{byte}");
            }
        }
    }
}

#[test]
fn a_table_that_is_missing_is_damage() {
    let home = Home::new();
    let id = home.open().home();
    Connection::open(home.path()).unwrap().execute_batch("DROP TABLE contexts").unwrap();

    let error = refused(&home, id);

    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("table contexts"), "{error}");
}

#[tokio::test]
async fn a_read_that_fails_shows_and_the_check_finds_the_damage() {
    let home = Home::new();
    let ada = owner("ada");
    let record = create(&*home.open().stores().tasks, new_task(&ada, "m")).await;
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'a2a_tasks'";
    let page: i64 = Connection::open(home.path()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap();
    let sqlite = home.open();
    assert_eq!(DatabaseFile::open(&home.path()).unwrap().integrity().unwrap(), None);
    assert_eq!(StoreHealth::unreadable(&sqlite), None);
    let file = fs::OpenOptions::new().write(true).open(home.path()).unwrap();
    file.write_all_at(&[0xff; 4_096], u64::try_from((page - 1) * 4_096).unwrap()).unwrap();

    let read = sqlite.stores().tasks.get(&ada, record.task.id).await;

    assert!(read.is_err(), "{read:?}");
    assert!(StoreHealth::unreadable(&sqlite).is_some());
    assert_eq!(StoreHealth::failing(&sqlite), None, "nothing was written");
    assert!(DatabaseFile::open(&home.path()).unwrap().integrity().unwrap().is_some());
}
