//! What the system offers: walls for child processes and the database of time zones.

use std::path::Path;

use openfang_types::config::ChildIsolation;

use super::Check;
use crate::session::Session;

pub(super) fn checks(session: &Session) -> Vec<Check> {
    let isolation = session.config(&[]).map(|config| config.egress.children).unwrap_or_default();
    let mut found: Vec<Check> = isolation.missing_walls().iter().map(|wall| missing(wall)).collect();
    if !cfg!(target_os = "linux") {
        let text = "file tools work on Linux only";
        found.push(Check::warn("system", text, "use Linux, or WSL on Windows, for agents with a workspace"));
    } else if isolation == ChildIsolation::Isolated {
        found.push(landlock());
    }
    found.extend(programs(session));
    found.push(time_zones());
    found
}

/// A wall that child processes do not have.
fn missing(wall: &str) -> Check {
    let fix = match cfg!(target_os = "linux") {
        true => "remove `children` from [egress] in config.toml, and restart the daemon",
        false => "run openfang on Linux where this matters",
    };
    Check::warn("children", format!("child processes have {wall}"), fix)
}

fn landlock() -> Check {
    let modules = std::fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
    if modules.is_empty() {
        Check::ok(
            "sandbox",
            "the kernel does not list its security modules; a sandbox that it does not have is refused",
        )
    } else if modules.split(',').any(|module| module.trim() == "landlock") {
        Check::ok("sandbox", "the kernel has Landlock")
    } else {
        let fix = "start the kernel with lsm=landlock,..., or use a newer kernel";
        Check::warn("sandbox", "the kernel has no Landlock, so sandboxed programs are refused", fix)
    }
}

/// What is unusual about the programs that `shell_exec` runs.
fn programs(session: &Session) -> Vec<Check> {
    let Ok(config) = session.config(&[]) else { return Vec::new() };
    let mut found = Vec::new();
    if config.exec.unsandboxed {
        let text = "programs of shell_exec run without a sandbox, with everything that the user of the server can do";
        found.push(Check::warn("programs", text, "remove `unsandboxed` from [exec] in config.toml"));
    } else if config.egress.children == ChildIsolation::Portable {
        let text = "shell_exec runs nothing, because portable child processes have no sandbox";
        let fix = "run openfang on Linux with children = \"isolated\", or set unsandboxed = true under [exec]";
        found.push(Check::warn("programs", text, fix));
    }
    found
}

fn time_zones() -> Check {
    if Path::new("/usr/share/zoneinfo").is_dir() {
        Check::ok("time zones", "/usr/share/zoneinfo")
    } else {
        Check::warn("time zones", "there is no database of time zones", "install the package tzdata")
    }
}
