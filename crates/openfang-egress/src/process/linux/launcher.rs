//! The one thread that starts children and buries them. It lasts as long as any child: the death signal that a child
//! asks for comes when the thread that started it ends, not only the process.
//!
//! Errands come over a bounded channel that has room for every child's start and end. A [`Body`] is a child that was
//! started: whatever happens to it, it is killed and sent here, where [`Burial`]s go on until everything is gone.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

use openfang_types::limits::{
    CHILD_BURIAL_ROUND, CHILD_KILL_PATIENCE, CHILD_LAST_WORDS, CHILD_SWEEP, CHILDREN_MAX, REAPER_WATCH,
};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::cgroup;
use super::helper::{CHILD, keep_descriptors_from_children};
use super::reaper_link::ReaperLink;
use super::ward::Ward;
use crate::process::{DoorConfig, Ending, ResourceLimits};

/// Something for the thread to do.
pub(super) enum Errand {
    /// Start a child.
    Launch(Wish, oneshot::Sender<io::Result<Launched>>),
    /// See a child off.
    Bury(Burial),
}

/// What is wanted of a child before it gets its order.
pub(super) struct Wish {
    pub(super) temporary_home: bool,
    pub(super) limits: ResourceLimits,
    pub(super) permit: OwnedSemaphorePermit,
    /// The way back here, for the child's end.
    pub(super) errands: SyncSender<Errand>,
}

/// A child that waits for its order, known to the reaper.
pub(super) struct Launched {
    pub(super) body: Body,
    pub(super) control: UnixStream,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// What the control group does not limit.
    pub(super) limits: ResourceLimits,
    pub(super) home: Option<PathBuf>,
}

/// Starts the thread. It ends when the last sender is gone and the last child is buried.
pub(super) fn start(config: DoorConfig) -> io::Result<SyncSender<Errand>> {
    // Every child has at most its start and its end under way.
    let (errands, inbox) = sync_channel(2 * CHILDREN_MAX);
    let launcher =
        Launcher { reaper: ReaperLink::new(config.helper.clone()), cgroups: None, config, burials: Vec::new() };
    std::thread::Builder::new()
        .name("children".to_owned())
        .spawn(move || launcher.work(&inbox))?;
    Ok(errands)
}

struct Launcher {
    config: DoorConfig,
    reaper: ReaperLink,
    /// Where control groups can be made; looked for with the first child.
    cgroups: Option<Option<PathBuf>>,
    burials: Vec<Burial>,
}

impl Launcher {
    fn work(mut self, inbox: &Receiver<Errand>) {
        loop {
            match self.next(inbox) {
                Ok(Errand::Launch(wish, reply)) => {
                    let launched = self.launch(wish);
                    // Nobody waits any more: the body goes the way of every body.
                    let _ = reply.send(launched);
                }
                Ok(Errand::Bury(burial)) => self.burials.push(burial),
                Err(RecvTimeoutError::Timeout) => self.look_after_reaper(),
                Err(RecvTimeoutError::Disconnected) if self.burials.is_empty() => return,
                Err(RecvTimeoutError::Disconnected) => pause(),
            }
            let reaper = &mut self.reaper;
            self.burials.retain_mut(|burial| !burial.is_done(reaper));
        }
    }

    fn next(&self, inbox: &Receiver<Errand>) -> Result<Errand, RecvTimeoutError> {
        if !self.burials.is_empty() {
            inbox.recv_timeout(CHILD_BURIAL_ROUND)
        } else if self.reaper.has_wards() {
            inbox.recv_timeout(REAPER_WATCH)
        } else {
            inbox.recv().map_err(|_| RecvTimeoutError::Disconnected)
        }
    }

    fn look_after_reaper(&mut self) {
        if let Err(error) = self.reaper.look_after() {
            tracing::error!(%error, "no reaper for child processes: if this process is killed, they stay");
        }
    }

    fn launch(&mut self, wish: Wish) -> io::Result<Launched> {
        let name = unique_name()?;
        let place = self.cgroups.get_or_insert_with(|| cgroup::find(&name)).clone();
        let home = wish.temporary_home.then(|| self.config.temporary.join(&name));
        let (control, theirs) = UnixStream::pair()?;
        let mut child = spawn(&self.config.helper, theirs)?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let group = i32::try_from(child.id()).map_err(io::Error::other)?;
        let ward = Ward::new(group, place.map(|place| place.join(&name)), home.clone());
        let body = Body { laid_out: Some((child, ward.clone(), wish.permit)), errands: wish.errands };
        // The reaper first, then what it must remove: nothing is left behind if we die in between.
        self.reaper.watch(ward.clone())?;
        let limits = match ward.cgroup().map(|group| cgroup::enter(group, body.pid(), &wish.limits)) {
            Some(Ok(rest)) => rest,
            Some(Err(error)) => {
                tracing::debug!(%error, "no control group for a child process");
                wish.limits
            }
            None => wish.limits,
        };
        ward.make_home()?;
        let (Some(stdout), Some(stderr)) = pipes else { return Err(io::Error::other("a child without pipes")) };
        Ok(Launched { body, control, stdout: stdout.into(), stderr: stderr.into(), limits, home })
    }
}

/// The helper finds the control socket in the place of its stdin.
#[expect(clippy::disallowed_methods, reason = "the one place where children start")]
fn spawn(helper: &Path, control: UnixStream) -> io::Result<std::process::Child> {
    keep_descriptors_from_children();
    let mut command = Command::new(helper);
    command.arg(CHILD).env_clear().stdin(OwnedFd::from(control));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn()
}

#[expect(clippy::disallowed_methods, reason = "a thread of its own, with nothing else to do")]
fn pause() {
    std::thread::sleep(CHILD_BURIAL_ROUND);
}

fn unique_name() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(format!("openfang-{}-{:032x}", std::process::id(), u128::from_ne_bytes(random)))
}

/// A started child. If nobody buries it, dropping it kills it at once and has it buried.
pub(super) struct Body {
    laid_out: Option<(std::process::Child, Ward, OwnedSemaphorePermit)>,
    errands: SyncSender<Errand>,
}

impl Body {
    pub(super) fn pid(&self) -> u32 {
        self.laid_out.as_ref().map_or(0, |(child, ..)| child.id())
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some((_, ward, _)) = &self.laid_out {
            ward.signal(signal);
        }
    }

    /// Kills what is left of the group, clears away, reaps, and says how it ended. What takes long to clear away is not
    /// waited for.
    pub(super) async fn bury(mut self) -> Ending {
        let (tell, told) = oneshot::channel();
        self.hand_over(Some(tell));
        let told = tokio::time::timeout(CHILD_KILL_PATIENCE, told).await;
        told.ok().and_then(Result::ok).unwrap_or(Ending::Unknown)
    }

    fn hand_over(&mut self, tell: Option<oneshot::Sender<Ending>>) {
        let Some((child, ward, permit)) = self.laid_out.take() else { return };
        ward.kill();
        let burial = Burial { child, ward, _permit: permit, tell, begun: Instant::now() };
        // A full channel cannot be, and a thread that is gone has died with its children.
        if self.errands.try_send(Errand::Bury(burial)).is_err() {
            tracing::error!("a child process was killed and cannot be reaped: its thread is gone");
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.hand_over(None);
    }
}

/// A killed child on its way out.
pub(super) struct Burial {
    child: std::process::Child,
    ward: Ward,
    _permit: OwnedSemaphorePermit,
    tell: Option<oneshot::Sender<Ending>>,
    begun: Instant,
}

impl Burial {
    /// One round. The number is ours until the last line, so killing once more hits nobody else.
    fn is_done(&mut self, reaper: &mut ReaperLink) -> bool {
        self.ward.kill();
        let Some(ending) = self.ending() else { return false };
        let (is_clear, took) = (self.ward.clear_away(CHILD_BURIAL_ROUND), self.begun.elapsed());
        if is_clear || took > CHILD_LAST_WORDS {
            self.tell(ending);
        }
        if !is_clear && took < CHILD_SWEEP {
            return false;
        }
        if !is_clear {
            tracing::warn!(home = ?self.ward.home(), "what a child process left cannot be removed");
        }
        if let Err(error) = reaper.forget(self.ward.group) {
            tracing::error!(%error, "no reaper for child processes: if this process is killed, they stay");
        }
        let _ = self.child.wait();
        true
    }

    fn tell(&mut self, ending: Ending) {
        if let Some(tell) = self.tell.take() {
            let _ = tell.send(ending);
        }
    }

    /// How it ended, if it has, without reaping it.
    fn ending(&self) -> Option<Ending> {
        let pid = Pid::from_raw(self.ward.group)?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), look) {
            Ok(Some(status)) => {
                let signal = status.terminating_signal().map(Ending::Signal);
                Some(status.exit_status().map(Ending::Code).or(signal).unwrap_or(Ending::Unknown))
            }
            Ok(None) => None,
            Err(_) => Some(Ending::Unknown),
        }
    }
}
