//! What was written down is read again.

use super::*;

fn ended(owner: &str, nonce: Option<u8>, expiry: i64) -> EndedSession {
    EndedSession { owner: owner.to_owned(), nonce: nonce.map(|byte| [byte; 16]), expiry }
}

#[tokio::test]
async fn what_was_added_or_replaced_is_read_again_and_a_broken_line_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ended");
    let file = SessionFile::at(&path);
    assert_eq!(file.read(), []);

    file.add(ended("ada", Some(0), 5)).await;
    file.add(ended("bob@x", Some(255), 6)).await;
    assert_eq!(file.read(), [ended("ada", Some(0), 5), ended("bob@x", Some(255), 6)]);

    let all = vec![ended("ada", None, 9), ended("bob@x", Some(7), 10)];
    file.replace(all.clone()).await;
    assert_eq!(file.read(), all);
    fs::write(&path, "9 - ada\n1").unwrap();
    file.add(ended("bob@x", Some(7), 10)).await;
    assert_eq!(file.read(), all);
}
