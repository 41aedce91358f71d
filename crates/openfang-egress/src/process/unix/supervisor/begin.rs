//! The start of a child: started by the launcher, registered with the reaper, given its order, and heard until it has
//! become its program. On an error the child is reaped before the error is returned.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use openfang_types::config::ChildIsolation;
use openfang_types::limits::CHILD_START_LIMIT;
use tokio::net::unix::pipe;
use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::super::control::{self, Cause, ChildReport, Order, SandboxRules, Step};
use super::super::door::LauncherHandle;
use super::super::end_watch::EndWatch;
use super::super::launcher::{ChildRequest, LauncherJob, WaitingChild};
use super::super::{Child, Stdout, stdin};
use super::{RunningChild, RunningCount};
use crate::process::program::interpreter;
use crate::process::stderr::Stderr;
use crate::process::{Containment, EnvironmentKind, Launch, ProcessError, ResourceLimits};

pub(super) async fn begin(
    hall: &LauncherHandle,
    launch: Launch,
    permit: OwnedSemaphorePermit,
) -> Result<(Child, RunningChild), ProcessError> {
    let WaitingChild { body, control, stdout, stderr, limits, has_control_group, home } =
        launched(hall, &launch, permit).await?;
    let order = order(&launch, (limits, has_control_group), home.as_deref(), hall.config.isolation);
    let running = timeout(CHILD_START_LIMIT, instruct(control, &order, &launch)).await;
    let running = running.unwrap_or_else(|_| {
        Err(ProcessError::TooSlow { program: launch.program.path().to_owned(), limit: CHILD_START_LIMIT })
    });
    let wired = running.and_then(|(containment, stdin_pipe)| {
        let pid = body.pid();
        let end = EndWatch::new(pid, hall.config.isolation).map_err(|cause| helper_error(hall, "be watched", cause))?;
        let pipes = (pipe::Receiver::from_owned_fd(stdout), pipe::Receiver::from_owned_fd(stderr));
        let (Ok(stdout), Ok(stderr)) = pipes else { return Err(ProcessError::Closed) };
        Ok((containment, stdin_pipe, pid, end, stdout, stderr))
    });
    let (containment, stdin_pipe, pid, end, stdout, stderr_pipe) = match wired {
        Ok(wired) => wired,
        Err(error) => {
            body.reap().await;
            return Err(error);
        }
    };
    let (stdin, stdin_pump) = stdin::queue(stdin_pipe, launch.stdin_limit);
    let (stderr_out, stderr_pipe) =
        if launch.has_raw_stderr { (Some(Stdout(stderr_pipe)), None) } else { (None, Some(stderr_pipe)) };
    let stderr = Arc::new(Stderr::new(launch.environment.secrets(), launch.on_stderr));
    let (exit, exit_seen) = watch::channel(None);
    let stop = CancellationToken::new();
    let child = Child {
        pid,
        containment,
        stdin,
        stdout: Some(Stdout(stdout)),
        stderr_out,
        stderr: Arc::clone(&stderr),
        exit: exit_seen,
        stop: stop.clone(),
    };
    let living = RunningCount::new(&hall.metrics);
    let close_grace = launch.close_grace;
    Ok((child, RunningChild { body, end, stdin: stdin_pump, stderr_pipe, stderr, exit, stop, close_grace, living }))
}

async fn launched(
    hall: &LauncherHandle,
    launch: &Launch,
    permit: OwnedSemaphorePermit,
) -> Result<WaitingChild, ProcessError> {
    let wish = ChildRequest {
        temporary_home: launch.has_temporary_home(),
        limits: launch.limits.clone(),
        permit,
        errands: hall.errands.clone(),
    };
    let (tell, told) = oneshot::channel();
    hall.errands.try_send(LauncherJob::Launch(wish, tell)).map_err(|_| ProcessError::Closed)?;
    let launched = told.await.map_err(|_| ProcessError::Closed)?;
    launched.map_err(|cause| helper_error(hall, "be started", cause))
}

fn helper_error(hall: &LauncherHandle, deed: &'static str, cause: io::Error) -> ProcessError {
    ProcessError::Helper { helper: hall.config.helper.clone(), deed, cause }
}

fn order(
    launch: &Launch,
    (limits, has_control_group): (ResourceLimits, bool),
    home: Option<&Path>,
    isolation: ChildIsolation,
) -> Order {
    let mut environment = launch.environment.clone();
    if let Some(home) = home {
        environment.move_to(home);
    }
    let is_tool = launch.environment.kind() == EnvironmentKind::Tool;
    let sandbox = launch.sandbox.as_ref().map(|sandbox| {
        // The working directory is not included: it may be somebody's home, and the operator can list it.
        let own = [launch.program.path()].into_iter();
        SandboxRules {
            read: own.chain(sandbox.read.iter().map(AsRef::as_ref)).map(OsString::from).collect(),
            write: home
                .into_iter()
                .chain(sandbox.write.iter().map(AsRef::as_ref))
                .map(OsString::from)
                .collect(),
            network: sandbox.network,
            stays_in_group: !has_control_group && is_tool,
            must_hold: is_tool,
        }
    });
    Order {
        parent: rustix::process::getpid().as_raw_nonzero().get(),
        isolation,
        program: launch.program.path().into(),
        arguments: launch.arguments.clone(),
        environment: environment.expose(),
        directory: launch.directory.clone().into(),
        limits,
        sandbox,
        umask: crate::process::inherited_umask(),
    }
}

/// Sends the order and reads the child's reports.
async fn instruct(
    control: std::os::unix::net::UnixStream,
    order: &Order,
    launch: &Launch,
) -> Result<(Containment, pipe::Sender), ProcessError> {
    let program = || launch.program.path().to_owned();
    let not_run = |cause| ProcessError::NotRun { program: program(), cause };
    control.set_nonblocking(true).map_err(not_run)?;
    let mut control = tokio::net::UnixStream::from_std(control).map_err(not_run)?;
    let (theirs, ours) = io::pipe().map_err(not_run)?;
    match control::send_order(&mut control, order, theirs.into()).await {
        // Its last reports are still in the socket.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        sent => sent.map_err(not_run)?,
    }
    let mut held_to = None;
    while let Some(word) = control::hear(&mut control).await.map_err(not_run)? {
        match word {
            ChildReport::Ready(containment) => held_to = Some(containment),
            ChildReport::Failed { step, cause } => return Err(failed(step, cause, launch)),
        }
    }
    let containment = held_to.ok_or_else(|| ProcessError::Vanished { program: program() })?;
    let pipe = pipe::Sender::from_owned_fd(ours.into()).map_err(not_run)?;
    Ok((containment, pipe))
}

fn failed(step: Step, cause: Cause, launch: &Launch) -> ProcessError {
    let (program, cause) = (launch.program.path().to_owned(), io::Error::from(cause));
    match step {
        Step::Directory => ProcessError::Directory { program, directory: launch.directory.clone(), cause },
        Step::Limits => ProcessError::Limits { program, cause },
        Step::Sandbox => ProcessError::Sandbox { program, cause },
        // The file existed when it was resolved, so its interpreter is missing.
        Step::Program if cause.kind() == io::ErrorKind::NotFound && program.exists() => {
            ProcessError::NoInterpreter { interpreter: interpreter(&program), program }
        }
        Step::Program | Step::Order => ProcessError::NotRun { program, cause },
    }
}
