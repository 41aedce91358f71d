//! `__reaper`: waits until its connection closes, which means that the main process is gone, and then kills every child
//! it knows. Until then it keeps a short list and confirms each notice with one byte.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Instant;

use openfang_types::limits::{CHILD_BURIAL_ROUND, CHILD_SWEEP};

use super::super::child_resources::ChildResources;
use super::super::reaper_link::Notice;

pub(super) fn run() -> ExitCode {
    // Its own session: signals from the terminal are for openfang, not for the reaper.
    let _ = rustix::process::setsid();
    let Ok(line) = std::io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let mut wards = HashMap::new();
    listen(line, &mut wards);
    sweep(wards.into_values().collect());
    ExitCode::SUCCESS
}

/// Reads notices until the connection ends or breaks.
fn listen(line: OwnedFd, wards: &mut HashMap<i32, ChildResources>) {
    let line = UnixStream::from(line);
    let Ok(mut answers) = line.try_clone() else { return };
    for notice in BufReader::new(line).lines() {
        let Some(notice) = notice.ok().and_then(|notice| serde_json::from_str(&notice).ok()) else { return };
        match notice {
            Notice::Watch(ward) => drop(wards.insert(ward.group, ward)),
            Notice::Forget(group) => drop(wards.remove(&group)),
        }
        // Nobody may be there to read it any more; the notices that were sent before count all the same.
        let _ = answers.write_all(b".");
    }
}

/// Kills all children, then removes what they leave behind.
fn sweep(mut wards: Vec<ChildResources>) {
    let begun = Instant::now();
    wards.iter().for_each(ChildResources::kill);
    while !wards.is_empty() && begun.elapsed() < CHILD_SWEEP {
        wards.retain(|ward| !ward.clear_away(CHILD_SWEEP));
        if !wards.is_empty() {
            pause();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a process with one thread and nothing else to do")]
fn pause() {
    std::thread::sleep(CHILD_BURIAL_ROUND);
}

#[cfg(test)]
#[path = "reaper_tests.rs"]
mod tests;
