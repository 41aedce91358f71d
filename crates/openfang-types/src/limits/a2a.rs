//! Limits of A2A.

/// A token or a credential that a peer wants to be sent along with pushes.
pub const A2A_PUSH_SECRET_MAX_BYTES: usize = 4 * 1024;
/// Tasks that the bounded map of the A2A library keeps.
pub const A2A_TASK_STORE: usize = 1_000;
/// What is kept of an error that a peer answers with.
pub const A2A_PEER_ERROR_MAX_CHARS: usize = 500;
