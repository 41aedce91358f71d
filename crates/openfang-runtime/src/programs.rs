//! The way to programs for tools, and how many an owner may have running.

use openfang_egress::process::ProcessDoor;
use openfang_types::limits::EXEC_CALLS_PER_OWNER;

use crate::call_room::CallRoom;

/// Opens the way to programs; the kernel implements it.
pub trait Programs: Send + Sync {
    /// The door to programs, or why there is none.
    fn door(&self) -> Result<ProcessDoor, String>;
}

/// Room for the programs of each owner.
pub(crate) fn calls() -> CallRoom {
    CallRoom::new(EXEC_CALLS_PER_OWNER, "programs are running")
}
