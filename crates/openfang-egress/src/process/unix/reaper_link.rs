//! Our connection to the reaper. The reaper is started with the first child and told of every child before that child
//! runs. If it dies or does not answer, it is restarted and told of all running children.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use openfang_types::limits::REAPER_ANSWER;
use serde::{Deserialize, Serialize};

use super::child_resources::ChildResources;
use super::helper::REAPER;

/// A notice to the reaper, one line each. The reaper confirms each with one byte.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Notice {
    /// Kill this child when we are gone.
    Watch(ChildResources),
    /// This child has ended.
    Forget(i32),
}

/// Our end of the connection, and the state the reaper must know.
pub(super) struct ReaperLink {
    helper: PathBuf,
    wards: HashMap<i32, ChildResources>,
    reaper: Option<Reaper>,
}

struct Reaper {
    process: std::process::Child,
    line: UnixStream,
}

impl ReaperLink {
    pub(super) fn new(helper: PathBuf) -> Self {
        Self { helper, wards: HashMap::new(), reaper: None }
    }

    /// Registers a child. After success the reaper knows it.
    pub(super) fn watch(&mut self, ward: ChildResources) -> io::Result<()> {
        let notice = Notice::Watch(ward.clone());
        self.wards.insert(ward.group, ward);
        self.tell_living_reaper(&notice)
    }

    /// Unregisters a child before its pid can be reused.
    pub(super) fn forget(&mut self, group: i32) -> io::Result<()> {
        self.wards.remove(&group);
        self.tell_living_reaper(&Notice::Forget(group))
    }

    pub(super) fn has_wards(&self) -> bool {
        !self.wards.is_empty()
    }

    /// Starts a new reaper if the old one died.
    pub(super) fn look_after(&mut self) -> io::Result<()> {
        let is_dead = self.reaper.as_mut().is_some_and(|reaper| !matches!(reaper.process.try_wait(), Ok(None)));
        if is_dead { self.replace() } else { Ok(()) }
    }

    fn tell_living_reaper(&mut self, notice: &Notice) -> io::Result<()> {
        if self
            .reaper
            .as_mut()
            .is_some_and(|reaper| reaper.notify(std::slice::from_ref(notice)).is_ok())
        {
            return Ok(());
        }
        // A new reaper gets the whole list, including this notice.
        self.replace()
    }

    fn replace(&mut self) -> io::Result<()> {
        if let Some(dead) = self.reaper.take() {
            tracing::warn!("the reaper of child processes is gone; starting another");
            dead.end();
        }
        let mut reaper = Reaper::start(&self.helper)?;
        let notices: Vec<Notice> = self.wards.values().cloned().map(Notice::Watch).collect();
        reaper.notify(&notices)?;
        self.reaper = Some(reaper);
        Ok(())
    }
}

impl Drop for ReaperLink {
    /// Called when no child is left: the reaper sees its connection close and exits.
    fn drop(&mut self) {
        if let Some(Reaper { mut process, line }) = self.reaper.take() {
            drop(line);
            let _ = process.wait();
        }
    }
}

impl Reaper {
    /// Its own session, an empty environment, and the root directory, so that it blocks no unmount.
    #[expect(clippy::disallowed_methods, reason = "the reaper is our own binary")]
    fn start(helper: &std::path::Path) -> io::Result<Self> {
        let (line, theirs) = UnixStream::pair()?;
        line.set_read_timeout(Some(REAPER_ANSWER))?;
        line.set_write_timeout(Some(REAPER_ANSWER))?;
        super::helper::keep_descriptors_from_children();
        let process = Command::new(helper)
            .arg(REAPER)
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(theirs.try_clone()?))
            .stdout(OwnedFd::from(theirs))
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { process, line })
    }

    /// Sends all of them before it waits for an answer: the reaper acts on what was sent even if we are killed meanwhile.
    fn notify(&mut self, notices: &[Notice]) -> io::Result<()> {
        let mut lines = Vec::new();
        for notice in notices {
            serde_json::to_writer(&mut lines, notice)?;
            lines.push(b'\n');
        }
        self.line.write_all(&lines)?;
        self.line.read_exact(&mut vec![0; notices.len()])
    }

    fn end(mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
