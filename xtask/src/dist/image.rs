//! A container image, written as an archive in the layout of OCI. It has the binary, the certificates of authorities and the
//! time zones of this machine, and a user without rights.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::digest;
use super::files::tar;
use crate::process::{capture, program};

const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";
const ZONES: &str = "/usr/share/zoneinfo";
/// The user in the image, whose home is the volume.
const USER: u32 = 65_532;

/// Writes the image. What this machine does not have is left out, and said.
pub(super) fn write(binary: &Path, work: &Path, file: &Path, version: &str) -> Result<()> {
    let (tree, layout) = (work.join("tree"), work.join("layout"));
    for directory in ["usr/bin", "etc/ssl/certs", "data", "tmp"] {
        fs::create_dir_all(tree.join(directory))?;
    }
    fs::create_dir_all(layout.join("blobs/sha256"))?;
    fs::copy(binary, tree.join("usr/bin/openfang"))?;
    fs::write(tree.join("etc/passwd"), format!("openfang:x:{USER}:{USER}::/data:/\n"))?;
    fs::write(tree.join("etc/group"), format!("openfang:x:{USER}:\n"))?;
    match Path::new(CERTIFICATES).exists() {
        true => drop(fs::copy(CERTIFICATES, tree.join("etc/ssl/certs/ca-certificates.crt"))?),
        false => {
            println!("dist: {CERTIFICATES} is missing, so the image trusts no authority (Debian: ca-certificates)")
        }
    }
    match Path::new(ZONES).is_dir() {
        true => {
            fs::create_dir_all(tree.join("usr/share"))?;
            capture(
                program("cp")
                    .args(["--recursive", "--no-target-directory", ZONES])
                    .arg(tree.join("usr/share/zoneinfo")),
            )?;
        }
        false => println!("dist: {ZONES} is missing, so the image knows UTC only (Debian: tzdata)"),
    }
    let layer = work.join("layer.tar");
    owned_tar(&tree, &layer)?;
    let layer = fs::read(&layer)?;
    let layer_digest = blob(&layout, &layer)?;
    let config = written(&config(version, &layer_digest))?;
    let config_digest = blob(&layout, &config)?;
    let manifest = written(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", &config_digest, config.len()),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar", &layer_digest, layer.len())],
    }))?;
    let manifest_digest = blob(&layout, &manifest)?;
    let mut described = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest_digest, manifest.len());
    described["annotations"] = json!({ "org.opencontainers.image.ref.name": version });
    fs::write(layout.join("index.json"), written(&json!({ "schemaVersion": 2, "manifests": [described] }))?)?;
    fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)?;
    tar(&layout, file, &["blobs", "index.json", "oci-layout"])
}

/// The tree, with the home of the user in its possession and a directory for temporary files.
fn owned_tar(tree: &Path, file: &Path) -> Result<()> {
    tar(tree, file, &["etc", "usr"])?;
    let append = |name: &str, owner: u32, mode: &str| {
        let mut tar = program("tar");
        tar.args(["--append", "--format=ustar", "--numeric-owner", "--no-recursion", "--mtime=@0"]);
        tar.arg(format!("--owner={owner}"))
            .arg(format!("--group={owner}"))
            .arg(format!("--mode={mode}"));
        capture(tar.arg("--file").arg(file).arg("--directory").arg(tree).arg(name)).map(drop)
    };
    append("data", USER, "0700")?;
    append("tmp", 0, "1777")
}

/// The image listens on all addresses, so the server starts only with a credential.
fn config(version: &str, layer: &str) -> Value {
    json!({
        "architecture": "amd64",
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/bin", "HOME=/data", "OPENFANG_HOME=/data", "OPENFANG_API_LISTEN=0.0.0.0:50051"],
            "Entrypoint": ["/usr/bin/openfang"],
            "Cmd": ["start"],
            "WorkingDir": "/data",
            "ExposedPorts": { "50051/tcp": {} },
            "Volumes": { "/data": {} },
            "StopSignal": "SIGTERM",
            "Labels": { "org.opencontainers.image.version": version, "org.opencontainers.image.title": "OpenFang" },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer}")] },
        "history": [{ "created": "1970-01-01T00:00:00Z", "created_by": "cargo xtask dist" }],
    })
}

fn descriptor(media_type: &str, digest: &str, size: usize) -> Value {
    json!({ "mediaType": media_type, "digest": format!("sha256:{digest}"), "size": size })
}

/// Stores bytes under their digest.
fn blob(layout: &Path, bytes: &[u8]) -> Result<String> {
    let digest = digest(bytes);
    fs::write(layout.join("blobs/sha256").join(&digest), bytes)?;
    Ok(digest)
}

fn written(value: &Value) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}
