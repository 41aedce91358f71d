//! What `cargo metadata` says about the workspace, as far as the rules ask for it.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process;

/// The resolved workspace, for all targets and all features.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: Vec<String>,
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) resolve: Resolve,
}

/// One package of the graph, ours or foreign.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
}

/// Something that cargo builds of a package.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) src_path: PathBuf,
}

/// A dependency as a manifest declares it.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<Kind>,
    /// What the sources call it, if not by its name.
    #[serde(default)]
    pub(crate) rename: Option<String>,
}

/// When a dependency is needed; cargo writes `null` for the normal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Build,
    Dev,
}

/// Who depends on whom once versions are chosen.
#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

/// A package id and the ids it depends on.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) dependencies: Vec<String>,
}

impl Metadata {
    /// Asks cargo. The lock file is taken as it is: a check must not change what it checks.
    pub(crate) fn load() -> Result<Self> {
        let json = process::capture(&mut process::cargo(["metadata", "--format-version", "1", "--locked"]))?;
        serde_json::from_str(&json).context("cargo metadata speaks an unknown format")
    }

    /// The packages of this workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// A package's manifest as the tree names it: relative to the root, with slashes.
    pub(crate) fn manifest_of(&self, package: &Package) -> String {
        let path = package.manifest_path.strip_prefix(&self.workspace_root).unwrap_or(&package.manifest_path);
        slashed(path)
    }

    /// A member's directory, relative to the root, without a closing slash.
    pub(crate) fn directory_of(&self, package: &Package) -> String {
        self.manifest_of(package).trim_end_matches("Cargo.toml").trim_end_matches('/').to_owned()
    }
}

impl Metadata {
    /// Where the sources of a member are: its directory, and those of its targets that are elsewhere.
    pub(crate) fn source_directories(&self, package: &Package) -> Vec<String> {
        let own = self.directory_of(package);
        let targets = package.targets.iter().filter_map(|target| target.src_path.parent()).map(without_steps_up);
        let elsewhere = targets.filter_map(|path| path.strip_prefix(&self.workspace_root).ok().map(slashed));
        let elsewhere: Vec<String> = elsewhere.filter(|directory| !directory.starts_with(&format!("{own}/"))).collect();
        [own].into_iter().chain(elsewhere).collect()
    }
}

impl Package {
    /// What becomes part of the product: everything but the dependencies of tests.
    pub(crate) fn product_dependencies(&self) -> impl Iterator<Item = &str> {
        self.dependencies
            .iter()
            .filter(|dep| dep.kind != Some(Kind::Dev))
            .map(|dep| dep.name.as_str())
    }
}

/// The same path without `..`, which cargo leaves in the paths of targets.
fn without_steps_up(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            component => plain.push(component),
        }
    }
    plain
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
