//! Programs that the gate runs beside cargo. `ensure` installs what is missing where it may, which on Debian means as
//! root, and otherwise says which package has it. Nothing asks for input.

use anyhow::{Result, bail};

use crate::process::{capture, program, succeed};

/// A program, a command that succeeds where it is usable, and the Debian package that has it.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) check: &'static [&'static str],
    pub(crate) package: &'static str,
}

impl Tool {
    fn is_there(&self) -> bool {
        self.check
            .split_first()
            .is_some_and(|(name, args)| capture(program(name).args(args)).is_ok())
    }
}

/// All of these are there, or the error names the first that is not.
pub(crate) fn ensure(tools: &[Tool]) -> Result<()> {
    for tool in tools.iter().filter(|tool| !tool.is_there()) {
        let installed = succeed(
            program("apt-get")
                .args(["install", "--yes", tool.package])
                .env("DEBIAN_FRONTEND", "noninteractive"),
        );
        if installed.is_err() || !tool.is_there() {
            let Tool { name, package, .. } = tool;
            bail!("`{name}` is missing: install it (Debian: apt-get install {package}) and run this again");
        }
    }
    Ok(())
}
