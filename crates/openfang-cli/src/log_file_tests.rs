//! Files that do not grow without end.

use super::*;

#[test]
fn a_full_file_moves_on_and_the_oldest_goes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log/openfang.jsonl");
    let log = LogFile::open(&path).unwrap();
    let line = vec![b'x'; usize::try_from(LOG_FILE_BYTES / 2).unwrap()];

    for _ in 0..2 * LOG_FILES + 3 {
        log.append(&line).unwrap();
    }

    let count = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(count, LOG_FILES);
    assert_eq!(numbered(&path, 1).metadata().unwrap().len(), LOG_FILE_BYTES / 2 * 2);
}

#[test]
fn a_restart_goes_on_in_the_same_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("openfang.jsonl");

    for line in ["one\n", "two\n"] {
        LogFile::open(&path).unwrap().append(line.as_bytes()).unwrap();
    }

    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
}
