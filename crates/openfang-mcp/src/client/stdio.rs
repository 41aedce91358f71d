//! A server that is a child process: a line each way is a message.

use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use bytes::{BufMut as _, Bytes, BytesMut};
use openfang_egress::process::{Child, Launch, ProcessDoor, SendError, Stdin, Stdout};
use openfang_types::limits::{CHILD_LAST_WORDS, MCP_NOISE_LINES, MCP_REPLIES, MCP_UPSTREAM_MESSAGE_BYTES};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::ClientError;
use super::inbox::{FrameOutcome, Inbox};
use super::wire::{Carried, Outgoing, Wire};
use crate::framing::{Frame, FrameReader};
use crate::revision::Revision;

/// The wire to a child. Dropped, it ends the child.
pub(super) struct Stdio {
    child: Arc<Child>,
    inbox: Arc<Inbox>,
    tracker: TaskTracker,
}

impl Stdio {
    /// Starts the program. What it says goes to the inbox.
    pub(super) async fn start(
        door: &ProcessDoor,
        launch: Launch,
        inbox: &Arc<Inbox>,
        tracker: &TaskTracker,
    ) -> Result<Arc<Self>, ClientError> {
        let mut child = door.start(launch).await.map_err(|error| ClientError::Start(error.to_string()))?;
        let stdout = child.take_stdout().ok_or_else(|| ClientError::Start("it has no stdout".to_owned()))?;
        let stdin = child.stdin().clone();
        let child = Arc::new(child);
        tracker.spawn(read(stdout, stdin, Arc::clone(inbox), (Arc::downgrade(&child), tracker.clone())));
        Ok(Arc::new(Self { child, inbox: Arc::clone(inbox), tracker: tracker.clone() }))
    }

    /// What it means that a message was not sent.
    async fn sent(&self, outcome: Result<(), SendError>) -> Result<(), ClientError> {
        let Err(error) = outcome else { return Ok(()) };
        match error {
            SendError::Stuck { .. } => Err(ClientError::Lost(error.to_string())),
            SendError::Closed | SendError::Gone => {
                // How it ended says more than that it takes nothing any more, and is known in a moment.
                let _ = timeout(CHILD_LAST_WORDS.saturating_mul(2), self.inbox.over()).await;
                let why = self.inbox.ended().map_or_else(|| error.to_string(), |why| why.to_string());
                Err(ClientError::NotSent(why))
            }
        }
    }
}

/// The message as a line.
fn line(message: &[u8]) -> Bytes {
    let mut line = BytesMut::with_capacity(message.len() + 1);
    line.put_slice(message);
    line.put_u8(b'\n');
    line.freeze()
}

/// Reads until the child stops talking, or talks nonsense for too long.
async fn read(stdout: Stdout, stdin: Stdin, inbox: Arc<Inbox>, (child, tracker): (Weak<Child>, TaskTracker)) {
    let mut frames = FrameReader::new(stdout).with_limit(MCP_UPSTREAM_MESSAGE_BYTES).paced();
    let mut noise = 0;
    let replies = Arc::new(Semaphore::new(MCP_REPLIES));
    let why = loop {
        let taken = match frames.next().await {
            Ok(Some(Frame::Message(message))) => {
                let taken = inbox.take(&message, None);
                if taken.iter().any(|taken| matches!(taken, FrameOutcome::Answer)) {
                    frames.asked_for(message.len() + 1);
                } else {
                    frames.unasked().await;
                }
                taken
            }
            Ok(Some(Frame::TooLarge)) => {
                inbox.lose_answer(frames.lost(), &ClientError::TooLarge);
                vec![FrameOutcome::Noise]
            }
            Ok(Some(Frame::BadHeader)) => vec![FrameOutcome::Noise],
            Ok(None) => break ended(&child).await,
            Err(error) => break format!("its output cannot be read: {error}"),
        };
        for taken in taken {
            match taken {
                FrameOutcome::Answer | FrameOutcome::Understood => noise = 0,
                FrameOutcome::Noise => noise += 1,
                FrameOutcome::Reply(reply) => {
                    noise = 0;
                    // A child that asks faster than it reads waits here, and one that never reads is given up.
                    let seat = Arc::clone(&replies).acquire_owned().await;
                    let (stdin, inbox) = (stdin.clone(), Arc::clone(&inbox));
                    tracker.spawn(async move {
                        if let Err(error) = stdin.send(line(&reply)).await {
                            inbox.end(&ClientError::Lost(error.to_string()));
                        }
                        drop(seat);
                    });
                }
            }
        }
        if noise == 1 {
            tracing::warn!("a server writes to its stdout what is no message; it is ignored");
        }
        if noise >= MCP_NOISE_LINES {
            break format!("it wrote {MCP_NOISE_LINES} lines in a row that are no messages");
        }
    };
    inbox.end(&ClientError::Lost(why));
    stdin.close();
    if let Some(child) = child.upgrade() {
        child.shutdown().await;
    }
}

/// What is known about the end of a child that stopped talking.
async fn ended(child: &Weak<Child>) -> String {
    let Some(child) = child.upgrade() else { return "its process was ended".to_owned() };
    match timeout(CHILD_LAST_WORDS, child.wait()).await {
        Ok(exit) => format!("its process {exit}"),
        Err(_) => "its process closed its output".to_owned(),
    }
}

impl Wire for Stdio {
    fn request(self: Arc<Self>, request: Outgoing) -> Carried {
        // The answer says that it arrived.
        Box::pin(async move { self.sent(self.child.stdin().send_unheard(line(&request.body)).await).await })
    }

    fn tell(self: Arc<Self>, message: Bytes) -> Carried {
        Box::pin(async move { self.sent(self.child.stdin().send(line(&message)).await).await })
    }

    fn settle(&self, _: Revision) {}

    fn stops_when_dropped(&self) -> bool {
        false
    }

    fn listen(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(ready(()))
    }

    fn last_words(&self) -> Vec<String> {
        self.child.stderr_tail().lines().map(str::to_owned).collect()
    }

    fn close(&self) {
        self.child.stdin().close();
        let child = Arc::clone(&self.child);
        self.tracker.spawn(async move { child.shutdown().await });
    }
}
