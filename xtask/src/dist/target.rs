//! What can be built on this machine: with the musl target of Rust and `musl-gcc` a binary on musl, else one on the static
//! libraries of glibc. Both run on every Linux with this processor.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::process::{capture, cargo, program, root, succeed};

const MUSL: &str = "x86_64-unknown-linux-musl";
const GNU: &str = "x86_64-unknown-linux-gnu";
/// The profile of what is handed out.
const PROFILE: &str = "dist";

pub(super) const ELSEWHERE: &str = "\
other systems are not built here. On a machine of that kind, or with its target installed:
  rustup target add aarch64-unknown-linux-musl && cargo build --profile dist --locked --bin openfang --target aarch64-unknown-linux-musl
  macOS: cargo build --profile dist --locked --bin openfang";

/// Builds the static binary, and says on what.
pub(super) fn build() -> Result<PathBuf> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("dist builds on Linux on x86-64 only\n{ELSEWHERE}");
    }
    let target = target()?;
    let flags =
        ["-C target-feature=+crt-static".to_owned(), format!("--remap-path-prefix={}=openfang", root().display())];
    let mut build = cargo(["build", "--profile", PROFILE, "--locked", "--bin", "openfang", "--target", target]);
    succeed(build.env("RUSTFLAGS", flags.join(" ")))?;
    Ok(root().join("target").join(target).join(PROFILE).join("openfang"))
}

fn target() -> Result<&'static str> {
    let library = capture(program("rustc").args(["--print", "target-libdir", "--target", MUSL]))?;
    let has_target = Path::new(library.trim()).is_dir();
    let has_compiler = capture(program("musl-gcc").arg("--version")).is_ok();
    if has_target && has_compiler {
        println!("dist: building for {MUSL}");
        return Ok(MUSL);
    }
    let missing =
        if has_target { "musl-gcc (Debian: musl-tools)" } else { "`rustup target add x86_64-unknown-linux-musl`" };
    println!(
        "dist: building for {GNU} with the static libraries of glibc, because this is missing for musl: {missing}"
    );
    Ok(GNU)
}
