//! Enters a sandbox irreversibly: Landlock for files, sockets and signals, seccomp for everything Landlock does not
//! cover.
//!
//! In addition to its grants, the program may read and execute system files: programs, libraries, and the few files of
//! /etc that are needed to start. The home, /proc and the rest of /etc are not readable. Features that this kernel
//! lacks are reported.

use std::io;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::super::control::SandboxRules;
use super::seccomp;
use crate::process::{Containment, Network};

/// Programs and libraries, and files programs read at start: the loader's cache, user names, the time zone,
/// certificates. /opt is not included, because it contains applications with their configuration.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu/online",
];
/// The files for name resolution.
const NAMES: &[&str] = &[
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/systemd/resolve/resolv.conf",
];
const READ_DEVICES: &[&str] = &["/dev/random", "/dev/urandom"];
const DEVICES: &[&str] = &["/dev/full", "/dev/null", "/dev/zero"];

/// The newest Landlock version we know. The kernel applies the rules it supports.
const NEWEST: ABI = ABI::V9;

/// Enters the sandbox. On an error the program must not run. A kernel without Landlock is not an error.
pub(super) fn enter(sandbox: &SandboxRules) -> io::Result<Containment> {
    let status = restrict(sandbox).map_err(io::Error::other)?;
    let containment = containment(&status);
    if sandbox.must_hold && !containment.holds_files() {
        return Err(io::Error::other(weakness(containment)));
    }
    rustix::thread::set_no_new_privs(true)?;
    seccomp::apply(sandbox)?;
    Ok(containment)
}

/// Why the rules about files are not enforced.
fn weakness(containment: Containment) -> String {
    match containment {
        Containment::None { reason } => reason,
        Containment::Partial { missing, .. } => {
            format!("the Landlock of this kernel does not hold {}", missing.join(", "))
        }
        Containment::Full | Containment::NotAsked => String::new(),
    }
}

fn containment(status: &landlock::RestrictionStatus) -> Containment {
    match (&status.ruleset, &status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotEnabled) => {
            Containment::None { reason: "Landlock is switched off on this kernel (see its lsm= parameter)".to_owned() }
        }
        (RulesetStatus::NotEnforced, _) => {
            Containment::None { reason: "this kernel has no Landlock (Linux 5.13 and later can have it)".to_owned() }
        }
        (_, LandlockStatus::Available { effective_abi, .. }) => held_by(*effective_abi),
        (_, LandlockStatus::NotEnabled | LandlockStatus::NotImplemented) => {
            Containment::None { reason: "Landlock does not answer".to_owned() }
        }
    }
}

/// The containment that a Landlock version provides.
fn held_by(abi: ABI) -> Containment {
    let since = [
        (ABI::V2, "moving files between directories (Linux 5.19)"),
        (ABI::V3, "truncating files (Linux 6.2)"),
        (ABI::V5, "commands to devices (Linux 6.10)"),
        (ABI::V6, "signals and abstract sockets to other processes (Linux 6.12)"),
    ];
    let missing: Vec<String> =
        since.iter().filter(|(from, _)| abi < *from).map(|(_, what)| (*what).to_owned()).collect();
    let holds_files = abi >= ABI::V3;
    if missing.is_empty() { Containment::Full } else { Containment::Partial { holds_files, missing } }
}

fn restrict(sandbox: &SandboxRules) -> Result<landlock::RestrictionStatus, RulesetError> {
    let read = AccessFs::from_read(NEWEST);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if sandbox.network == Network::Denied {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let names: &[&str] = if sandbox.network == Network::Allowed { NAMES } else { &[] };
    let system = SYSTEM.iter().chain(READ_DEVICES).chain(names);
    rules
        .create()?
        .add_rules(path_beneath_rules(system, read))?
        .add_rules(path_beneath_rules(DEVICES, read | AccessFs::WriteFile | AccessFs::Truncate))?
        .add_rules(path_beneath_rules(&sandbox.read, read))?
        .add_rules(path_beneath_rules(&sandbox.write, changes()))?
        .restrict_self()
}

/// All access rights except creating devices.
fn changes() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

#[cfg(test)]
#[path = "enter_sandbox_tests.rs"]
mod tests;
