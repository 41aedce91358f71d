//! Finding out what a server speaks, and beginning a conversation in it.
//!
//! Never keyed on one error code: servers of the legacy era answer a question of the modern one in many ways, and some
//! not at all. What was found is worth remembering.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use openfang_egress::http::HttpDoor;
use openfang_egress::process::{Launch, ProcessDoor};
use openfang_egress::url::OperatorUrl;
use openfang_types::limits::MCP_PROBE;
use openfang_types::redact::Redactor;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use super::handshake::Opened;
use super::inbox::Inbox;
use super::stdio::Stdio;
use super::wire::Wire as _;
use super::{ClientError, Connection, web};
use crate::capabilities::ClientCapabilities;
use crate::counts::Counts;
use crate::revision::Era;

/// Where a server is.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "one is made when a server is connected to, and dropped soon after")]
pub enum Endpoint {
    /// A program to be started.
    Program { door: ProcessDoor, launch: Box<Launch> },
    Url {
        door: HttpDoor,
        url: OperatorUrl,
        /// Sent with every request.
        headers: Vec<(HeaderName, HeaderValue)>,
    },
}

impl Endpoint {
    /// A URL, and what is sent with every request to it. Errors name a header and never its value.
    pub fn url(
        door: HttpDoor,
        url: OperatorUrl,
        headers: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, String> {
        let header = |(name, value): (String, String)| {
            let wrong = |_| format!("the header {name:?} has a value that cannot be sent");
            let parsed = HeaderName::try_from(name.as_str()).map_err(|_| format!("{name:?} is not a header's name"))?;
            Ok((parsed, HeaderValue::try_from(value).map_err(wrong)?))
        };
        let headers = headers.into_iter().map(header).collect::<Result<Vec<_>, String>>()?;
        Ok(Self::Url { door, url, headers })
    }
}

/// What is needed to begin a conversation.
pub struct Connecting {
    /// Where the server is.
    pub endpoint: Endpoint,
    /// Takes out of all that the server says what must not be shown.
    pub redactor: Arc<Redactor>,
    /// The only era to be tried; none tries both.
    pub only: Option<Era>,
    /// The era that was found before; it is tried first.
    pub known: Option<Era>,
    /// What the server may ask for.
    pub declared: ClientCapabilities,
    /// How long all of it may take.
    pub patience: Duration,
    /// What lives as long as the conversation runs here.
    pub tracker: TaskTracker,
    /// Replies that nobody waits for are counted here.
    pub counts: Arc<Counts>,
}

/// The programs that were started: how many, and the last one, for its last words.
#[derive(Default)]
pub(super) struct Started {
    programs: AtomicUsize,
    last: Mutex<Option<Arc<Stdio>>>,
}

impl Started {
    /// How many: one that leaves over a question of the modern era is started again.
    pub(super) fn programs(&self) -> usize {
        self.programs.load(Ordering::Relaxed)
    }

    fn add(&self, program: &Arc<Stdio>) {
        self.programs.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(program));
    }

    fn last_words(&self) -> Vec<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        last.map(|program| program.last_words()).unwrap_or_default()
    }
}

/// Begins a conversation. Where that fails, what the server wrote to its stderr comes with the reason.
pub async fn connect(connecting: Connecting) -> Result<Connection, (ClientError, Vec<String>)> {
    connect_counting(connecting, &Started::default()).await
}

/// Like [`connect`], and says what was started.
pub(super) async fn connect_counting(
    connecting: Connecting,
    started: &Started,
) -> Result<Connection, (ClientError, Vec<String>)> {
    let patience = connecting.patience;
    let began = async {
        match &connecting.endpoint {
            Endpoint::Program { door, launch } => over_stdio(door, launch, &connecting, started).await,
            Endpoint::Url { door, url, headers } => web::connect(door, url, headers, &connecting).await,
        }
    };
    let began = timeout(patience, began).await.unwrap_or(Err(ClientError::TimedOut(patience)));
    match began {
        Ok(connection) => {
            connection.listen().await;
            Ok(connection)
        }
        Err(error) => Err((error, started.last_words())),
    }
}

async fn over_stdio(
    door: &ProcessDoor,
    launch: &Launch,
    how: &Connecting,
    started: &Started,
) -> Result<Connection, ClientError> {
    let open = || async {
        let inbox = Inbox::new(&how.redactor, &how.counts);
        let wire = Stdio::start(door, launch.clone(), &inbox, &how.tracker).await?;
        started.add(&wire);
        Ok::<_, ClientError>(Opened { wire, inbox, declared: how.declared, tracker: how.tracker.clone() })
    };
    let opened = open().await?;
    match how.only {
        Some(Era::Legacy) => return opened.initialize(how.patience).await,
        Some(Era::Modern) => return opened.discover(how.patience).await,
        None => {}
    }
    if how.known == Some(Era::Legacy) {
        match opened.initialize(how.patience).await {
            Ok(connection) => return Ok(connection),
            Err(error) if opened.inbox.ended().is_some() => return Err(error),
            Err(_) => {}
        }
    }
    match probed(&opened, how.patience).await {
        Ok(connection) => Ok(connection),
        // It took the question for a reason to leave.
        Err(_) if opened.inbox.ended().is_some() => open().await?.initialize(how.patience).await,
        Err(error) => Err(error),
    }
}

/// Asks in the modern way, and in the legacy way too when the answer is no, or silence.
async fn probed(opened: &Opened, patience: Duration) -> Result<Connection, ClientError> {
    let modern = opened.discover(patience);
    tokio::pin!(modern);
    tokio::select! {
        biased;
        answer = &mut modern => match answer {
            Ok(connection) => return Ok(connection),
            Err(_) => return opened.initialize(patience).await,
        },
        () = sleep(MCP_PROBE) => {}
    }
    // A server that is slow to start answers both, in order; one that never answers the first is of the legacy era.
    let legacy = opened.initialize(patience);
    tokio::pin!(legacy);
    tokio::select! {
        biased;
        answer = &mut modern => match answer {
            Ok(connection) => Ok(connection),
            Err(_) => legacy.await,
        },
        answer = &mut legacy => answer,
    }
}
