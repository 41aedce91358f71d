//! What stands behind `openfang mcp`: the daemon of the home when one runs, a kernel in this process when none does.
//!
//! With a daemon the frames of the IDE are relayed to its `/mcp`, see [`relay`]. Without one this process is the server.

use openfang_egress::daemon::Daemon;
use openfang_kernel::{Caller, Kernel};
use openfang_types::principal::Door;

use crate::backend::InProcess;
use crate::error::CliError;
use crate::session::Session;

pub(crate) mod relay;

/// Who does the work for an IDE.
pub(crate) enum McpBackend {
    /// The daemon of the home.
    Daemon(Daemon),
    /// A kernel in this process.
    InProcess(Kernel, Caller),
}

impl McpBackend {
    /// The daemon, or else a kernel in this process.
    pub(crate) async fn open(session: &Session) -> Result<Self, CliError> {
        if !session.in_process
            && let Some(daemon) = session.daemon().await?
        {
            return Ok(Self::Daemon(daemon.through(Door::Mcp)));
        }
        session.prepare_home()?;
        let (kernel, caller) = InProcess::start(session, session.config(&[])?)?.into_parts();
        kernel.begin_acquaintance();
        Ok(Self::InProcess(kernel, Caller { door: Door::Mcp, ..caller }))
    }
}
