//! System calls that a sandboxed program must not use: those that reach into other processes, bypass the file rules or
//! reach deep into the kernel. `socket` is refused for every family, or for all except network families if network is
//! allowed. Limits and priorities can be set for the program itself only. A program without a control group cannot leave its process group, which is what its end goes by. Refused calls return an error that programs can handle. Calls of a foreign architecture kill the process.

use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use super::super::control::SandboxRules;
use super::syscalls::{ALWAYS, LEAVES_GROUP, OF_OTHERS, SOCKET};
use crate::process::Network;

/// EPERM, which programs without a permission get.
const NOT_PERMITTED: u32 = 1;

/// Refuses the calls from here on, for this process and its children. It also sets no-new-privileges.
pub(super) fn apply(sandbox: &SandboxRules) -> io::Result<()> {
    if let Some(filter) = foreign_numbers() {
        apply_filter(&filter).map_err(io::Error::other)?;
    }
    apply_filter(&filter(sandbox).map_err(io::Error::other)?).map_err(io::Error::other)
}

fn filter(sandbox: &SandboxRules) -> Result<BpfProgram, BackendError> {
    let sockets = match sandbox.network {
        Network::Allowed => vec![SeccompRule::new(neither_of_the_allowed()?)?],
        // Without a condition, for all families.
        Network::Denied => Vec::new(),
    };
    let leaving: &[i64] = if sandbox.stays_in_group { LEAVES_GROUP } else { &[] };
    let always = ALWAYS.iter().chain(leaving).map(|call| (*call, Vec::new()));
    let of_others = OF_OTHERS.iter().map(|(call, argument)| Ok((*call, vec![names_another(*argument)?])));
    let of_others = of_others.collect::<Result<Vec<_>, BackendError>>()?;
    let calls = always.chain([(SOCKET, sockets)]).chain(of_others).collect();
    let refused = SeccompAction::Errno(NOT_PERMITTED);
    SeccompFilter::new(calls, SeccompAction::Allow, refused, TARGET)?.try_into()
}

/// The argument is not zero, which is the caller itself.
fn names_another(argument: u8) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?])
}

/// IPv4, IPv6, and netlink, which reads addresses. Local sockets lead to the user's other programs (a container daemon,
/// a key agent, the desktop), which could do what the sandbox forbids.
const ALLOWED_FAMILIES: [u64; 3] = [2, 10, 16];

fn neither_of_the_allowed() -> Result<Vec<SeccompCondition>, BackendError> {
    let is_not = |family| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family);
    ALLOWED_FAMILIES.into_iter().map(is_not).collect()
}

#[cfg(target_arch = "x86_64")]
const TARGET: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const TARGET: TargetArch = TargetArch::aarch64;

/// x86_64 has a second set of calls with x32 numbers. Nothing needs them, so all of them are refused as unknown.
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

/// This architecture has one set of numbers.
#[cfg(target_arch = "aarch64")]
fn foreign_numbers() -> Option<BpfProgram> {
    None
}
