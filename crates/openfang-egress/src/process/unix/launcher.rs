//! The one thread that starts and reaps children. It lives as long as any child: the parent-death signal of a child is
//! sent when the thread that started it ends, not only when the process ends.
//!
//! Jobs come over a bounded channel with room for the start and the end of every child. Whatever happens to a
//! [`StartedChild`], it is killed and sent here, where its [`ChildCleanup`] continues until everything is gone.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

use openfang_types::config::ChildIsolation;
use openfang_types::limits::{
    CHILD_BURIAL_ROUND, CHILD_KILL_PATIENCE, CHILD_LAST_WORDS, CHILD_SWEEP, CHILDREN_MAX, REAPER_WATCH,
};
use rustix::process::{Pid, Signal};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::cgroup;
use super::child_resources::ChildResources;
use super::end_watch::ending_of;
use super::helper::{CHILD, keep_descriptors_from_children};
use super::reaper_link::ReaperLink;
use crate::process::{DoorConfig, Ending, ResourceLimits};

/// A job for the thread.
pub(super) enum LauncherJob {
    Launch(ChildRequest, oneshot::Sender<io::Result<WaitingChild>>),
    /// Reap a child and clean up.
    CleanUp(ChildCleanup),
}

/// The request for a child, before it gets its order.
pub(super) struct ChildRequest {
    pub(super) temporary_home: bool,
    pub(super) limits: ResourceLimits,
    pub(super) permit: OwnedSemaphorePermit,
    /// The channel back to this thread, for the child's end.
    pub(super) errands: SyncSender<LauncherJob>,
}

/// A child that waits for its order. The reaper knows it already.
pub(super) struct WaitingChild {
    pub(super) body: StartedChild,
    pub(super) control: UnixStream,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// The limits the control group does not enforce.
    pub(super) limits: ResourceLimits,
    /// Whether it is in a control group, which ends all of it.
    pub(super) has_control_group: bool,
    pub(super) home: Option<PathBuf>,
}

/// Starts the thread. It ends when the last sender is gone and the last child is reaped.
pub(super) fn start(config: DoorConfig) -> io::Result<SyncSender<LauncherJob>> {
    // Every child has at most its start and its end in progress.
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
    /// The parent of control groups, determined with the first child.
    cgroups: Option<Option<PathBuf>>,
    burials: Vec<ChildCleanup>,
}

impl Launcher {
    fn work(mut self, inbox: &Receiver<LauncherJob>) {
        loop {
            match self.next(inbox) {
                Ok(LauncherJob::Launch(wish, reply)) => {
                    let launched = self.launch(wish);
                    // If nobody waits any more, the body is dropped, which kills the child.
                    let _ = reply.send(launched);
                }
                Ok(LauncherJob::CleanUp(burial)) => self.burials.push(burial),
                Err(RecvTimeoutError::Timeout) => self.look_after_reaper(),
                Err(RecvTimeoutError::Disconnected) if self.burials.is_empty() => return,
                Err(RecvTimeoutError::Disconnected) => pause(),
            }
            let reaper = &mut self.reaper;
            self.burials.retain_mut(|burial| !burial.is_done(reaper));
        }
    }

    fn next(&self, inbox: &Receiver<LauncherJob>) -> Result<LauncherJob, RecvTimeoutError> {
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
            tracing::error!(%error, "no reaper for child processes: if this process is killed, they keep running");
        }
    }

    fn launch(&mut self, wish: ChildRequest) -> io::Result<WaitingChild> {
        let name = unique_name()?;
        let place = match self.config.isolation {
            ChildIsolation::Isolated => self.cgroups.get_or_insert_with(|| cgroup::find(&name)).clone(),
            ChildIsolation::Portable => None,
        };
        let home = wish.temporary_home.then(|| self.config.temporary.join(&name));
        let (control, theirs) = UnixStream::pair()?;
        let mut child = spawn(&self.config.helper, theirs)?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let group = i32::try_from(child.id()).map_err(io::Error::other)?;
        let ward = ChildResources::new(group, place.map(|place| place.join(&name)), home.clone());
        let body = StartedChild { laid_out: Some((child, ward.clone(), wish.permit)), errands: wish.errands };
        // The reaper is told first, so that nothing is left behind if we die in between.
        self.reaper.watch(ward.clone())?;
        let (limits, has_control_group) =
            match ward.cgroup().map(|group| cgroup::enter(group, body.pid(), &wish.limits)) {
                Some(Ok(rest)) => (rest, true),
                Some(Err(error)) => {
                    tracing::debug!(%error, "no control group for a child process");
                    (wish.limits, false)
                }
                None => (wish.limits, false),
            };
        ward.make_home()?;
        let (Some(stdout), Some(stderr)) = pipes else { return Err(io::Error::other("a child without pipes")) };
        let (stdout, stderr) = (stdout.into(), stderr.into());
        Ok(WaitingChild { body, control, stdout, stderr, limits, has_control_group, home })
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

/// A started child. Dropping it kills it immediately and sends it to be reaped.
pub(super) struct StartedChild {
    laid_out: Option<(std::process::Child, ChildResources, OwnedSemaphorePermit)>,
    errands: SyncSender<LauncherJob>,
}

impl StartedChild {
    pub(super) fn pid(&self) -> u32 {
        self.laid_out.as_ref().map_or(0, |(child, ..)| child.id())
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some((_, ward, _)) = &self.laid_out {
            ward.signal(signal);
        }
    }

    /// Kills the rest of the group, cleans up, reaps, and returns how the child ended. It does not wait for a slow
    /// cleanup.
    pub(super) async fn reap(mut self) -> Ending {
        let (tell, told) = oneshot::channel();
        self.hand_over(Some(tell));
        let told = tokio::time::timeout(CHILD_KILL_PATIENCE, told).await;
        told.ok().and_then(Result::ok).unwrap_or(Ending::Unknown)
    }

    fn hand_over(&mut self, tell: Option<oneshot::Sender<Ending>>) {
        let Some((child, ward, permit)) = self.laid_out.take() else { return };
        ward.kill();
        let burial = ChildCleanup { child, ward, _permit: permit, tell, begun: Instant::now() };
        // The channel cannot be full. If the thread is gone, its children died with it.
        if self.errands.try_send(LauncherJob::CleanUp(burial)).is_err() {
            tracing::error!("a child process was killed and cannot be reaped: its thread is gone");
        }
    }
}

impl Drop for StartedChild {
    fn drop(&mut self) {
        self.hand_over(None);
    }
}

/// A killed child that is not yet reaped.
pub(super) struct ChildCleanup {
    child: std::process::Child,
    ward: ChildResources,
    _permit: OwnedSemaphorePermit,
    tell: Option<oneshot::Sender<Ending>>,
    begun: Instant,
}

impl ChildCleanup {
    /// One attempt. The pid is reserved until the last line, so killing again cannot hit another process.
    fn is_done(&mut self, reaper: &mut ReaperLink) -> bool {
        self.ward.kill();
        let ending = Pid::from_raw(self.ward.group).and_then(ending_of);
        let Some(ending) = ending else { return false };
        let (is_clear, took) = (self.ward.clear_away(CHILD_BURIAL_ROUND), self.begun.elapsed());
        if is_clear || took > CHILD_LAST_WORDS {
            self.report_ending(ending);
        }
        if !is_clear && took < CHILD_SWEEP {
            return false;
        }
        if !is_clear {
            tracing::warn!(home = ?self.ward.home(), "the leftovers of a child process cannot be removed");
        }
        if let Err(error) = reaper.forget(self.ward.group) {
            tracing::error!(%error, "no reaper for child processes: if this process is killed, they keep running");
        }
        let _ = self.child.wait();
        true
    }

    fn report_ending(&mut self, ending: Ending) {
        if let Some(tell) = self.tell.take() {
            let _ = tell.send(ending);
        }
    }
}
