//! Events as they are written.

use futures_util::StreamExt as _;

use super::super::super::outlet::{Outlet as _, Weight};
use super::*;

async fn first(reader: EventReader, ids: Ids) -> String {
    let event = EventBody::new(reader, ids, None).next().await.unwrap();
    String::from_utf8(event.to_vec()).unwrap()
}

#[tokio::test]
async fn the_first_event_of_a_primed_stream_resumes_where_its_reader_stands() {
    let log = EventLog::for_replay(7, Arc::default());
    for text in ["a", "b", "c"] {
        log.send(Bytes::from(text), Weight::Heavy);
    }

    assert!(first(log.tail(), Ids::Primed).await.starts_with("id: 7-0\nretry: "));
    assert!(first(log.reader(2).unwrap(), Ids::Primed).await.starts_with("id: 7-2\nretry: "));
    assert_eq!(first(log.reader(2).unwrap(), Ids::Each).await, "id: 7-3\nevent: message\ndata: c\n\n");
}

#[tokio::test]
async fn a_stream_whose_connection_was_ended_before_anything_was_told_is_primed_and_over() {
    let log = EventLog::for_replay(7, Arc::default());
    let reader = log.tail();
    log.end_connection();
    log.finish(Some(bytes::Bytes::from_static(b"the answer")));

    let events: Vec<Bytes> = EventBody::new(reader, Ids::Primed, None).collect().await;
    assert_eq!(events.len(), 1, "{events:?}");
    let resumed: Vec<Bytes> = EventBody::new(log.reader(0).unwrap(), Ids::Each, None).collect().await;
    assert_eq!(resumed.len(), 1, "{resumed:?}");
    assert!(resumed[0].ends_with(b"the answer\n\n"));
}
