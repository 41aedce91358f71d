//! The binary in a root directory with nothing else: no shell, no libraries, no certificates.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::{capture, program};

/// What is done there. The namespaces end with the script, and everything in them.
const SCRIPT: &str = r#"
set -eu
root=$1
mount -t proc proc "$root/proc"
of() { env -i HOME=/home OPENFANG_HOME=/home/of PATH=/usr/bin /usr/sbin/chroot "$root" /usr/bin/openfang "$@"; }
of start --background --listen 0
of tool call add_numbers a=3 b=7
of connect --all --dry-run
of stop
"#;

/// Runs the binary, and says what it did.
pub(super) fn run(binary: &Path) -> Result<String> {
    let root = std::env::temp_dir().join(format!("openfang-root-{}", std::process::id()));
    for directory in ["usr/bin", "proc", "tmp", "home", "dev"] {
        fs::create_dir_all(root.join(directory))?;
    }
    fs::copy(binary, root.join("usr/bin/openfang"))?;
    let mut trial = program("unshare");
    trial.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SCRIPT, "sh"]);
    let said = capture(trial.arg(&root));
    fs::remove_dir_all(&root).with_context(|| format!("{} cannot be removed", root.display()))?;
    let said = said.context("the binary does not work in an empty root")?;
    if !(said.contains("listening on") && said.lines().any(|line| line.trim() == "10") && said.contains("stopped")) {
        bail!("the binary does not do in an empty root what it should:\n{said}");
    }
    Ok("in an empty root: start, tool call, connect --dry-run and stop work".to_owned())
}
