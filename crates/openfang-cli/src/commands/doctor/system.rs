//! What the system offers: walls for child processes and the database of time zones.

use std::path::Path;

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    if !cfg!(target_os = "linux") {
        let text = "file tools and child processes work on Linux only";
        return vec![Check::warn("system", text, "use Linux, or WSL on Windows, for MCP servers that are programs")];
    }
    let modules = std::fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
    let sandbox = if modules.is_empty() {
        Check::ok("sandbox", "the kernel does not say whether it has Landlock")
    } else if modules.split(',').any(|module| module.trim() == "landlock") {
        Check::ok("sandbox", "the kernel has Landlock")
    } else {
        let fix = "start the kernel with lsm=landlock,..., or use a newer kernel";
        Check::warn("sandbox", "the kernel has no Landlock, so sandboxed programs are refused", fix)
    };
    let zones = if Path::new("/usr/share/zoneinfo").is_dir() {
        Check::ok("time zones", "/usr/share/zoneinfo")
    } else {
        Check::warn("time zones", "there is no database of time zones", "install the package tzdata")
    };
    vec![sandbox, zones]
}
