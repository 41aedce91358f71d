//! How long a request is waited for, and what its server hears of the end.

use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio_util::task::TaskTracker;

use super::super::inbox::Inbox;
use super::super::wire::{Outgoing, Wire};
use super::super::{OutgoingRequest, RawMembers, ServerCapabilities, ServerFacts};
use super::*;
use crate::capabilities::ClientCapabilities;
use crate::revision::Revision;

const TIMEOUT: Duration = Duration::from_secs(30);

/// A pipe to nobody; what is told is noted.
#[derive(Default)]
struct Nobody {
    told: Mutex<Vec<Bytes>>,
}

impl Wire for Nobody {
    fn request(self: Arc<Self>, _: Outgoing) -> Carried {
        Box::pin(ready(Ok(())))
    }

    fn tell(self: Arc<Self>, message: Bytes) -> Carried {
        self.told.lock().unwrap().push(message);
        Box::pin(ready(Ok(())))
    }

    fn settle(&self, _: Revision) {}

    fn stops_when_dropped(&self) -> bool {
        false
    }

    fn listen(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(ready(()))
    }

    fn last_words(&self) -> Vec<String> {
        Vec::new()
    }

    fn close(&self) {}
}

struct Line {
    wire: Arc<Nobody>,
    inbox: Arc<Inbox>,
    tracker: TaskTracker,
    connection: Connection,
}

fn line() -> Line {
    let (wire, inbox, tracker) =
        (Arc::new(Nobody::default()), Inbox::new(&Arc::default(), &Arc::default()), TaskTracker::new());
    let facts = ServerFacts {
        revision: Revision::NEWEST_LEGACY,
        name: String::new(),
        title: None,
        version: String::new(),
        instructions: None,
        capabilities: ServerCapabilities::default(),
        instance: None,
    };
    let around = (ClientCapabilities::NONE, tracker.clone());
    let connection = Connection::new(Arc::clone(&wire) as Arc<dyn Wire>, Arc::clone(&inbox), facts, around);
    Line { wire, inbox, tracker, connection }
}

/// Makes a call whose server tells of progress every `every`, and returns how it ended and when.
async fn call(line: &Line, every: Duration) -> (Result<Step, ClientError>, Duration) {
    let begun = Instant::now();
    let mut ongoing = line
        .connection
        .begin(OutgoingRequest::new("tools/call", RawMembers::none(), TIMEOUT))
        .unwrap();
    let token = ongoing.id;
    let progress = async {
        loop {
            tokio::time::sleep(every).await;
            let far = begun.elapsed().as_secs();
            let told = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{far}}}}}"#
            );
            line.inbox.take(told.as_bytes(), None);
        }
    };
    let ended = tokio::select! {
        ended = ongoing.advance(&Silent) => ended,
        () = progress => unreachable!("it goes on for ever"),
    };
    (ended, begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn progress_gives_more_time_and_not_for_ever() {
    let line = line();
    for (every, within) in [(TIMEOUT / 2, MCP_CALL_MAX), (TIMEOUT * 2, TIMEOUT)] {
        let (ended, took) = call(&line, every).await;
        assert!(took >= within && took < within + Duration::from_secs(1), "{took:?}");
        assert_eq!(ended.unwrap_err().to_string(), format!("no answer within {} s", within.as_secs()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_is_cancelled_and_its_late_answer_is_nobodys() {
    let line = line();
    let (ended, _) = call(&line, TIMEOUT * 2).await;
    assert!(ended.is_err());
    // The task of the conversation ends with its last user, after what was noted is told.
    let Line { wire, inbox, tracker, connection } = line;
    drop(connection);
    tracker.close();
    tracker.wait().await;

    let told = wire.told.lock().unwrap().clone();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    let told = String::from_utf8_lossy(told);
    assert!(told.contains("notifications/cancelled") && told.contains(r#""requestId":1"#), "{told}");
    inbox.take(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None);
    assert!(!inbox.waits_for(1));
}
