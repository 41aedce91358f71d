//! Messages that arrive while a run works.

use std::time::Duration;

use openfang_types::limits::INBOX_MESSAGES_MAX;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Role};

use super::{Inbox, InboxMessage};

fn message(interrupts: bool) -> InboxMessage {
    let message = Message::text("m-1".parse().unwrap(), Role::User, "also this");
    InboxMessage { message, number: 2, labels: Labels::none(), interrupts }
}

#[test]
fn a_message_is_heard_or_refused_and_a_run_that_ends_hears_no_more() {
    let inbox = Inbox::default();
    assert!(!inbox.put(message(false)), "nobody listens yet");
    inbox.open();
    assert!(inbox.put(message(false)));

    assert!(!inbox.close_if_empty(), "a message waits");
    assert_eq!(inbox.take().len(), 1);
    assert!(inbox.close_if_empty());
    assert!(!inbox.put(message(false)), "the run has decided to end");
    assert!(inbox.take().is_empty());
}

#[test]
fn only_so_many_messages_wait() {
    let inbox = Inbox::default();
    inbox.open();
    let taken = (0..INBOX_MESSAGES_MAX + 5).filter(|_| inbox.put(message(false))).count();
    assert_eq!(taken, INBOX_MESSAGES_MAX);
}

#[tokio::test(start_paused = true)]
async fn an_interruption_is_one_only_while_its_message_waits() {
    let inbox = Inbox::default();
    inbox.open();
    assert!(inbox.put(message(true)));
    inbox.interrupted().await;
    inbox.take();

    let again = tokio::time::timeout(Duration::from_secs(1), inbox.interrupted()).await;

    assert!(again.is_err(), "the message was heard already");
}
