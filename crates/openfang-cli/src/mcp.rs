//! What stands behind `openfang mcp`: the daemon of the home when one runs, a kernel in this process when none does.
//!
//! [`McpHouse`] is the house that an IDE sees. When the daemon goes away it looks for another one, and else takes the
//! work into this process; a call that was under way is lost, and its client is told so.

use std::sync::{Arc, Mutex, PoisonError};

use openfang_kernel::mcp::serving::{Entry, House, HouseError, HouseFuture, HouseReply, Sending, Ticks, ToolRequest};
use openfang_kernel::{AgentSummary, Caller, Kernel};
use openfang_types::call::Outcome;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, Owner, TaskId};
use openfang_types::limits::Limits;
use openfang_types::principal::Door;
use openfang_types::task::Task;
use tokio_util::task::TaskTracker;

use crate::backend::{DaemonBackend, InProcess};
use crate::error::CliError;
use crate::session::Session;

mod through_daemon;

/// Who does the work for an IDE.
pub(crate) enum McpBackend {
    /// The daemon of the home.
    Daemon(Arc<DaemonBackend>),
    /// A kernel in this process.
    InProcess(Kernel, Caller),
}

/// The house behind an IDE.
pub(crate) struct McpHouse {
    session: Arc<Session>,
    backend: Mutex<Arc<McpBackend>>,
    /// Held while another backend is looked for, so that only one is opened.
    looking: tokio::sync::Mutex<()>,
    tracker: TaskTracker,
}

/// Why a call did not come through.
pub(crate) enum Missed {
    /// It was never begun, so it can be made again.
    NotBegun,
    /// It was under way.
    UnderWay(String),
    /// It was answered.
    Answered(HouseError),
}

impl McpBackend {
    /// The daemon, or else a kernel in this process.
    pub(crate) async fn open(session: &Session) -> Result<Self, CliError> {
        if !session.in_process
            && let Some(daemon) = session.daemon().await?
        {
            return Ok(Self::Daemon(Arc::new(DaemonBackend::new(daemon.through(Door::Mcp)))));
        }
        session.prepare_home()?;
        let (kernel, caller) = InProcess::start(session, session.config(&[])?)?.into_parts();
        kernel.begin_acquaintance();
        Ok(Self::InProcess(kernel, Caller { door: Door::Mcp, ..caller }))
    }
}

impl McpHouse {
    pub(crate) fn new(session: Arc<Session>, backend: McpBackend, tracker: TaskTracker) -> Self {
        let backend = Mutex::new(Arc::new(backend));
        Self { session, backend, looking: tokio::sync::Mutex::new(()), tracker }
    }

    fn backend(&self) -> Arc<McpBackend> {
        Arc::clone(&self.backend.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another backend in the place of one that went away.
    async fn instead_of(&self, gone: &Arc<McpBackend>) -> Result<Arc<McpBackend>, HouseError> {
        let _looking = self.looking.lock().await;
        let now = self.backend();
        if !Arc::ptr_eq(&now, gone) {
            return Ok(now);
        }
        let opened = McpBackend::open(&self.session).await;
        let opened = Arc::new(opened.map_err(|error| HouseError::Lost(error.to_string()))?);
        match &*opened {
            McpBackend::Daemon(_) => tracing::warn!("the daemon went away; another one is there"),
            McpBackend::InProcess(..) => tracing::warn!("the daemon went away; the work goes on in this process"),
        }
        *self.backend.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&opened);
        Ok(opened)
    }

    /// Decides what happens to a call that did not come through: the backend to make it on again, or the error.
    async fn after(&self, gone: &Arc<McpBackend>, missed: Missed, again: Again) -> Result<Arc<McpBackend>, HouseError> {
        match (missed, again) {
            (Missed::Answered(error), _) => Err(error),
            (Missed::NotBegun, _) | (Missed::UnderWay(_), Again::Harmless) => self.instead_of(gone).await,
            (Missed::UnderWay(what), Again::Harmful) => {
                // The next call finds the other backend.
                self.instead_of(gone).await?;
                Err(HouseError::Lost(what))
            }
        }
    }
}

/// Whether a call may be made again.
#[derive(Clone, Copy)]
enum Again {
    Harmless,
    Harmful,
}

/// Makes a call, and once more on another backend where that may be.
macro_rules! carried_out {
    ($house:expr, $again:expr, $kernel:ident, $caller:ident, $daemon:ident, $in_process:expr, $through_daemon:expr) => {
        Box::pin(async move {
            let mut backend = $house.backend();
            for _ in 0..2 {
                let missed = match &*backend {
                    McpBackend::InProcess($kernel, $caller) => return $in_process.await,
                    McpBackend::Daemon($daemon) => match $through_daemon.await {
                        Ok(done) => return Ok(done),
                        Err(missed) => missed,
                    },
                };
                backend = $house.after(&backend, missed, $again).await?;
            }
            Err(HouseError::Lost("the daemon goes away again and again; see its log".to_owned()))
        })
    };
}

impl House for McpHouse {
    type Caller = ();

    fn owner(&self, (): &()) -> String {
        Owner::admin().as_str().to_owned()
    }

    fn limits(&self) -> Limits {
        match &*self.backend() {
            McpBackend::Daemon(_) => Limits::default(),
            McpBackend::InProcess(kernel, _) => House::limits(kernel),
        }
    }

    fn audience(&self, (): &()) -> Option<(String, u64)> {
        match &*self.backend() {
            // Its MCP servers come and go, and nobody tells us.
            McpBackend::Daemon(_) => None,
            McpBackend::InProcess(kernel, caller) => House::audience(kernel, caller),
        }
    }

    fn tool_changes(&self) -> Ticks {
        match &*self.backend() {
            McpBackend::Daemon(_) => Box::pin(futures_util::stream::pending()),
            McpBackend::InProcess(kernel, _) => House::tool_changes(kernel),
        }
    }

    fn agents<'a>(&'a self, (): &'a ()) -> HouseFuture<'a, Vec<AgentSummary>> {
        carried_out!(self, Again::Harmless, kernel, caller, daemon, House::agents(kernel, caller), daemon.mcp_agents())
    }

    fn tools<'a>(&'a self, (): &'a (), through: Option<&'a AgentName>) -> HouseFuture<'a, Vec<Entry>> {
        carried_out!(
            self,
            Again::Harmless,
            kernel,
            caller,
            daemon,
            House::tools(kernel, caller, through),
            daemon.mcp_tools(through)
        )
    }

    fn call_tool<'a>(&'a self, (): &'a (), request: ToolRequest<'a>) -> HouseFuture<'a, Outcome<ToolOutput>> {
        let ToolRequest { name, arguments, back, cancel } = request;
        carried_out!(
            self,
            Again::Harmful,
            kernel,
            caller,
            daemon,
            House::call_tool(kernel, caller, ToolRequest { name, arguments, back: back.clone(), cancel }),
            daemon.mcp_call(name, arguments)
        )
    }

    fn send<'a>(&'a self, (): &'a (), sending: Sending<'a>) -> HouseFuture<'a, HouseReply> {
        carried_out!(
            self,
            Again::Harmful,
            kernel,
            caller,
            daemon,
            House::send(kernel, caller, sending),
            daemon.mcp_send(sending, &self.tracker)
        )
    }

    fn tasks<'a>(&'a self, (): &'a (), page: Option<&'a str>) -> HouseFuture<'a, (Vec<Task>, Option<String>)> {
        carried_out!(
            self,
            Again::Harmless,
            kernel,
            caller,
            daemon,
            House::tasks(kernel, caller, page),
            daemon.mcp_tasks(page)
        )
    }

    fn task<'a>(&'a self, (): &'a (), id: TaskId) -> HouseFuture<'a, Task> {
        carried_out!(
            self,
            Again::Harmless,
            kernel,
            caller,
            daemon,
            House::task(kernel, caller, id),
            daemon.mcp_task(id)
        )
    }

    fn follow(&self, (): &(), id: TaskId) -> Ticks {
        match &*self.backend() {
            McpBackend::InProcess(kernel, caller) => House::follow(kernel, caller, id),
            McpBackend::Daemon(_) => through_daemon::ticks(self.backend(), id),
        }
    }
}
