//! System calls that a sandboxed program is refused: those that reach into other processes, around the file rules or
//! deep into the kernel; `socket` of every family, or with network of every other. The refusal is an error that programs know how
//! to take; calls of a foreign architecture end the process.

use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use super::syscalls::{ALWAYS, SOCKET};
use crate::process::Network;

/// EPERM, which is what a program without the right to do something gets.
const NOT_PERMITTED: u32 = 1;

/// Refuses the calls from here on, to this process and all that it starts. It sees to no new privileges itself.
pub(super) fn apply(network: Network) -> io::Result<()> {
    if let Some(filter) = foreign_numbers() {
        apply_filter(&filter).map_err(io::Error::other)?;
    }
    apply_filter(&filter(network).map_err(io::Error::other)?).map_err(io::Error::other)
}

fn filter(network: Network) -> Result<BpfProgram, BackendError> {
    let sockets = match network {
        Network::Allowed => vec![SeccompRule::new(neither_of_the_allowed()?)?],
        // Without a condition: all of them.
        Network::Denied => Vec::new(),
    };
    let calls = ALWAYS.iter().map(|call| (*call, Vec::new())).chain([(SOCKET, sockets)]).collect();
    let refused = SeccompAction::Errno(NOT_PERMITTED);
    SeccompFilter::new(calls, SeccompAction::Allow, refused, TARGET)?.try_into()
}

/// Those of the network: IPv4, IPv6, and netlink, which asks for addresses. Local sockets lead to the user's other
/// programs (a container daemon, a key agent, the desktop), which would do what the sandbox forbids.
const ALLOWED_FAMILIES: [u64; 3] = [2, 10, 16];

fn neither_of_the_allowed() -> Result<Vec<SeccompCondition>, BackendError> {
    let is_not = |family| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family);
    ALLOWED_FAMILIES.into_iter().map(is_not).collect()
}

#[cfg(target_arch = "x86_64")]
const TARGET: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const TARGET: TargetArch = TargetArch::aarch64;

/// x86_64 has every call a second time, under the numbers of x32 with other numbers in between. Nothing needs them, so
/// all of them are said not to exist.
#[cfg(target_arch = "x86_64")]
fn foreign_numbers() -> Option<BpfProgram> {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const FIRST_X32: u32 = 0x4000_0000;
    const ALLOW: u32 = 0x7fff_0000;
    const NO_SUCH_CALL: u32 = 0x0005_0000 | 38;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    Some(vec![
        step(LOAD_WORD, 0, 0, 0),
        step(JUMP_IF_AT_LEAST, 0, 1, FIRST_X32),
        step(RETURN, 0, 0, NO_SUCH_CALL),
        step(RETURN, 0, 0, ALLOW),
    ])
}

/// Here there is one set of numbers.
#[cfg(target_arch = "aarch64")]
fn foreign_numbers() -> Option<BpfProgram> {
    None
}
