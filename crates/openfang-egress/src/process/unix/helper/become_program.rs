//! `__child`: prepares itself by the order and becomes the program. Every failure is reported over the control socket,
//! which the program itself never gets. If the parent is gone, nothing runs.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use openfang_types::config::ChildIsolation;
use rustix::fs::Mode;
use rustix::process::{chdir, getppid, setsid};

use super::super::control::{ChildReport, Order, SandboxRules, Step, receive_order, say};
use super::{keep_descriptors_from_children, limit};
use crate::process::Containment;

/// The exit code of a child that could not report its error. Nobody sees it.
const LOST: u8 = 70;

pub(super) fn run() -> ExitCode {
    let Ok(control) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::from(LOST);
    };
    let (step, error) = match prepare(&control) {
        Ok(mut command) => (Step::Program, command.exec()),
        Err(failure) => failure,
    };
    let _ = say(&control, &ChildReport::Failed { step, cause: error.into() });
    ExitCode::from(LOST)
}

/// Executes the order up to the program itself.
fn prepare(control: &UnixStream) -> Result<Command, (Step, io::Error)> {
    let at = |step| move |error: io::Error| (step, error);
    // A session of its own, without a controlling terminal. While it has no order, it ends with its control socket.
    setsid().map_err(|error| (Step::Order, error.into()))?;
    let (order, stdin) = receive_order(control).map_err(at(Step::Order))?;
    if order.isolation == ChildIsolation::Isolated {
        die_with_parent().map_err(at(Step::Order))?;
    }
    if getppid().map(|parent| parent.as_raw_nonzero().get()) != Some(order.parent) {
        return Err((Step::Order, io::Error::other("the parent is gone")));
    }
    take_stdin(stdin).map_err(at(Step::Order))?;
    chdir(order.directory.as_os_str()).map_err(|error| (Step::Directory, error.into()))?;
    keep_descriptors_from_children();
    let command = command(&order);
    limit::apply(&order.limits).map_err(at(Step::Limits))?;
    let containment = match &order.sandbox {
        Some(sandbox) => enter(sandbox).map_err(at(Step::Sandbox))?,
        None => Containment::NotAsked,
    };
    if let Some(mask) = order.umask {
        // The program gets the umask we were started with.
        rustix::process::umask(Mode::from_raw_mode(mask));
    }
    say(control, &ChildReport::Ready(containment)).map_err(at(Step::Order))?;
    Ok(command)
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn enter(sandbox: &SandboxRules) -> io::Result<Containment> {
    super::enter_sandbox::enter(sandbox)
}

/// The door refuses such a child before.
#[cfg(not(target_os = "linux"))]
fn enter(_: &SandboxRules) -> io::Result<Containment> {
    Err(io::ErrorKind::Unsupported.into())
}

fn take_stdin(stdin: OwnedFd) -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(stdin)?)
}

#[expect(clippy::disallowed_methods, reason = "this process becomes the program it was started for")]
fn command(order: &Order) -> Command {
    let mut command = Command::new(&order.program);
    command
        .args(&order.arguments)
        .env_clear()
        .envs(order.environment.iter().map(|(name, value)| (name, value)));
    command
}
