//! `__child`: makes itself what the order says and becomes the program. Every failure goes back over the control socket,
//! which the program itself never gets. When we are gone, nothing runs.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::fs::Mode;
use rustix::process::{Signal, chdir, getppid, set_parent_process_death_signal, setsid};

use super::super::control::{Order, Step, Word, receive_order, say};
use super::{keep_descriptors_from_children, limit, walls};
use crate::process::Containment;

/// Only for a child that could not say why: nobody sees it.
const LOST: u8 = 70;

/// The main function.
pub(super) fn run() -> ExitCode {
    let Ok(control) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::from(LOST);
    };
    let (step, error) = match prepare(&control) {
        Ok(mut command) => (Step::Program, command.exec()),
        Err(failure) => failure,
    };
    let _ = say(&control, &Word::Failed { step, cause: error.into() });
    ExitCode::from(LOST)
}

/// Carries the order out up to the program itself.
fn prepare(control: &UnixStream) -> Result<Command, (Step, io::Error)> {
    let at = |step| move |error: io::Error| (step, error);
    alone().map_err(at(Step::Order))?;
    let (order, stdin) = receive_order(control).map_err(at(Step::Order))?;
    if getppid().map(|parent| parent.as_raw_nonzero().get()) != Some(order.parent) {
        return Err((Step::Order, io::Error::other("the parent is gone")));
    }
    take_stdin(stdin).map_err(at(Step::Order))?;
    chdir(order.directory.as_os_str()).map_err(|error| (Step::Directory, error.into()))?;
    keep_descriptors_from_children();
    let command = command(&order);
    limit::apply(&order.limits).map_err(at(Step::Limits))?;
    let containment = match &order.sandbox {
        Some(sandbox) => walls::enter(sandbox).map_err(at(Step::Sandbox))?,
        None => Containment::NotAsked,
    };
    if let Some(mask) = order.umask {
        // What the program makes is its own: it gets the mask that we were started with.
        rustix::process::umask(Mode::from_raw_mode(mask));
    }
    say(control, &Word::Ready(containment)).map_err(at(Step::Order))?;
    Ok(command)
}

/// A session of its own, which is a group of its own without a terminal that it could type into; and an end with ours.
fn alone() -> io::Result<()> {
    setsid()?;
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
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
