//! The way to programs for tools, and how many an owner may have running.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_egress::process::ProcessDoor;
use openfang_types::ids::Owner;
use openfang_types::limits::EXEC_CALLS_PER_OWNER;

use crate::tools::ToolFailure;

/// Opens the way to programs; the kernel implements it.
pub trait Programs: Send + Sync {
    /// The door to programs, or why there is none.
    fn door(&self) -> Result<ProcessDoor, String>;
}

/// Programs that run in calls of tools, by owner.
#[derive(Default)]
pub struct ProgramCalls {
    live: Mutex<HashMap<Owner, usize>>,
}

/// A program that runs, until this is dropped.
pub struct ProgramCall<'a> {
    calls: &'a ProgramCalls,
    owner: Owner,
}

impl ProgramCalls {
    /// Room for one more program of an owner.
    pub fn begin(&self, owner: &Owner) -> Result<ProgramCall<'_>, ToolFailure> {
        let mut live = self.lock();
        let calls = live.entry(owner.clone()).or_default();
        if *calls >= EXEC_CALLS_PER_OWNER {
            let why = format!("{EXEC_CALLS_PER_OWNER} programs are running already; wait for one to end");
            return Err(ToolFailure::new(why));
        }
        *calls += 1;
        Ok(ProgramCall { calls: self, owner: owner.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, usize>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ProgramCall<'_> {
    fn drop(&mut self) {
        let mut live = self.calls.lock();
        if let Some(calls) = live.get_mut(&self.owner) {
            *calls = calls.saturating_sub(1);
            if *calls == 0 {
                live.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
