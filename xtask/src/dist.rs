//! `cargo xtask dist`: what is handed out. A static binary for Linux on x86-64, packed as an archive, a Debian package and a
//! container image, with checksums and a script that installs it. Not part of the gate: it compiles for minutes.
//!
//! `target.rs` decides what can be built on this machine, `elf.rs` looks whether a binary is static, `files.rs` gathers what
//! goes with it, `image.rs` writes the image without a container runtime, `trial.rs` runs the binary where nothing else is.

mod elf;
mod files;
mod image;
mod target;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use sha2::{Digest as _, Sha256};

use self::files::Payload;
use crate::process::{capture, program, root};
use crate::wants_help;

const HELP: &str = "\
Usage: cargo xtask dist [--binary FILE] [--out DIR] [--no-trial]

Builds what is handed out, into target/dist-files: an archive, a Debian package, a container image, SHA256SUMS and
install.sh. Linux on x86-64 only; the output says how to build for other systems.

  --binary FILE   pack this binary instead of building one
  --out DIR       write to this directory
  --no-trial      do not run the binary in an empty root
";
const INSTALLER: &str = include_str!("dist/install.sh");
/// The name of the system in file names.
const SYSTEM: &str = "linux-x86_64";

struct Request {
    binary: Option<PathBuf>,
    out: PathBuf,
    has_trial: bool,
}

/// The command.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if wants_help(args) {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let request = request(args)?;
    let binary = match &request.binary {
        Some(binary) => fs::canonicalize(binary).with_context(|| format!("{} is not there", binary.display()))?,
        None => target::build()?,
    };
    if let Some(interpreter) = elf::interpreter(&fs::read(&binary)?)? {
        bail!("{} is not static: it needs {interpreter}", binary.display());
    }
    if request.has_trial {
        println!("{}", trial::run(&binary)?);
    }
    for file in pack(&binary, &request.out)? {
        println!("{}", file.display());
    }
    println!("{}", target::ELSEWHERE);
    Ok(ExitCode::SUCCESS)
}

fn request(args: &[String]) -> Result<Request> {
    let mut request = Request { binary: None, out: root().join("target/dist-files"), has_trial: true };
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().map(PathBuf::from).with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--binary" => request.binary = Some(value()?),
            "--out" => request.out = value()?,
            "--no-trial" => request.has_trial = false,
            unknown => bail!("dist does not know `{unknown}`: try `cargo xtask dist --help`"),
        }
    }
    Ok(request)
}

/// Writes all files, and lists them.
fn pack(binary: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("{} is in the way", out.display()))?;
    }
    fs::create_dir_all(out)?;
    let version = version(binary)?;
    let payload = Payload::gather(binary, &out.join("work"))?;
    let archive = out.join(format!("openfang-{version}-{SYSTEM}.tar.gz"));
    payload.archive(&archive)?;
    let package = out.join(format!("openfang_{version}_amd64.deb"));
    payload.debian(&package, &version)?;
    let image = out.join(format!("openfang-{version}-{SYSTEM}.oci.tar"));
    image::write(binary, &out.join("work/image"), &image, &version)?;
    fs::remove_dir_all(out.join("work"))?;
    let installer = out.join("install.sh");
    fs::write(&installer, INSTALLER.replace("@VERSION@", &version).replace("@SYSTEM@", SYSTEM))?;
    let mut sums = String::new();
    for file in [&archive, &package, &image] {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        sums.push_str(&format!("{}  {name}\n", digest(&fs::read(file)?)));
    }
    let list = out.join("SHA256SUMS");
    fs::write(&list, sums)?;
    Ok(vec![archive, package, image, list, installer])
}

/// The version that the binary says it has.
fn version(binary: &Path) -> Result<String> {
    let said = capture(program(binary).arg("--version"))?;
    let version = said.trim().strip_prefix("openfang ").map(str::to_owned);
    version.with_context(|| format!("{} says `{}` to --version", binary.display(), said.trim()))
}

/// The SHA-256 of bytes, as `sha256sum` writes it.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "dist_tests.rs"]
mod tests;
