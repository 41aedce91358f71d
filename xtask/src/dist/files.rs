//! What goes with the binary: manual pages, completions, a unit of systemd and the licence.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::process::{capture, program, root, succeed};

/// Packages do not depend on when they were made.
const EPOCH: &str = "1767225600";
const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/openfang"),
    ("zsh", "usr/share/zsh/vendor-completions/_openfang"),
    ("fish", "usr/share/fish/vendor_completions.d/openfang.fish"),
];
/// Disabled until the administrator has set a credential and enables it.
const UNIT: &str = "\
[Unit]
Description=OpenFang
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart=/usr/bin/openfang --home /var/lib/openfang start
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
TimeoutStopSec=60
DynamicUser=yes
StateDirectory=openfang
StateDirectoryMode=0700
ProtectSystem=strict
ProtectHome=yes
NoNewPrivileges=yes
Environment=OPENFANG_LOG__FILE=true

[Install]
WantedBy=multi-user.target
";

/// A tree of files as it is installed, from the root.
pub(super) struct Payload {
    tree: PathBuf,
}

impl Payload {
    pub(super) fn gather(binary: &Path, work: &Path) -> Result<Self> {
        let tree = work.join("tree");
        let place = |path: &str| -> Result<PathBuf> {
            let path = tree.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            Ok(path)
        };
        fs::copy(binary, place("usr/bin/openfang")?)?;
        fs::copy(root().join("LICENSE"), place("usr/share/doc/openfang/copyright")?)?;
        fs::write(place("usr/lib/systemd/system/openfang.service")?, UNIT)?;
        for (shell, path) in SHELLS {
            fs::write(place(path)?, capture(program(binary).args(["completions", shell]))?)?;
        }
        let manual = place("usr/share/man/man1/openfang.1")?;
        succeed(program(binary).args(["--quiet", "manual"]).arg(manual.parent().unwrap_or(&manual)))?;
        Ok(Self { tree })
    }

    /// The tree below `usr` as an archive, to be unpacked into `~/.local` or `/usr/local`.
    pub(super) fn archive(&self, file: &Path) -> Result<()> {
        tar(&self.tree.join("usr"), file, &["--gzip", "bin", "share"])
    }

    pub(super) fn debian(&self, file: &Path, version: &str) -> Result<()> {
        let control = self.tree.join("DEBIAN");
        fs::create_dir_all(&control)?;
        let bytes: u64 = sizes(&self.tree)?;
        let text = format!(
            "Package: openfang\nVersion: {version}\nArchitecture: amd64\nMaintainer: OpenFang contributors <openfang@localhost>\n\
             Installed-Size: {}\nSection: net\nPriority: optional\nRecommends: ca-certificates, tzdata\n\
             Description: gateway for agents and tools\n MCP and A2A in one binary, with access control and an audit log.\n",
            bytes.div_ceil(1024)
        );
        fs::write(control.join("control"), text)?;
        let mut build = program("dpkg-deb");
        build.args(["--build", "--root-owner-group", "-Zgzip"]).arg(&self.tree).arg(file);
        capture(build.env("SOURCE_DATE_EPOCH", EPOCH)).map(drop)
    }
}

/// Packs a directory so that the same files make the same bytes.
pub(super) fn tar(directory: &Path, file: &Path, args: &[&str]) -> Result<()> {
    let mut tar = program("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar", "--mode=u+rw,go-w"]);
    tar.arg(format!("--mtime=@{EPOCH}"))
        .arg("--create")
        .arg("--file")
        .arg(file)
        .arg("--directory")
        .arg(directory);
    capture(tar.args(args).env("GZIP", "-n")).map(drop)
}

fn sizes(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { sizes(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
