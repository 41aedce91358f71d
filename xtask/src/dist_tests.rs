//! What is handed out, with a script in the place of the binary, and the installer against a server on loopback.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use serde_json::Value;

use super::*;

/// Does what packing needs of the binary.
const BINARY: &str = "\
#!/bin/sh
case \"$1 $2\" in
    '--version ') echo 'openfang 9.8.7' ;;
    'completions '*) echo \"completions of $2\" ;;
    '--quiet manual') echo '.TH OPENFANG 1' > \"$3/openfang.1\" ;;
    *) echo 'it works' ;;
esac
";

/// Everything that is handed out, in a directory of its own.
fn packed() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let binary = directory.path().join("openfang");
    fs::write(&binary, BINARY).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    let out = directory.path().join("out");
    pack(&binary, &out).unwrap();
    (directory, out)
}

#[test]
fn every_file_has_its_checksum_and_is_made_alike_each_time() {
    let ((_one, one), (_other, other)) = (packed(), packed());

    let sums = fs::read_to_string(one.join("SHA256SUMS")).unwrap();
    let names: Vec<&str> = sums.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(
        names,
        ["openfang-9.8.7-linux-x86_64.tar.gz", "openfang_9.8.7_amd64.deb", "openfang-9.8.7-linux-x86_64.oci.tar"]
    );
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        assert_eq!(digest(&fs::read(one.join(name)).unwrap()), sum, "{name}");
    }
    assert_eq!(fs::read_to_string(other.join("SHA256SUMS")).unwrap(), sums);
    assert!(!one.join("work").exists());
}

#[test]
fn the_package_has_the_binary_its_pages_and_a_unit() {
    let (_directory, out) = packed();

    let listed = capture(program("dpkg-deb").arg("--contents").arg(out.join("openfang_9.8.7_amd64.deb"))).unwrap();

    for path in [
        "./usr/bin/openfang",
        "./usr/share/man/man1/openfang.1",
        "./usr/share/bash-completion/completions/openfang",
        "./usr/lib/systemd/system/openfang.service",
        "./usr/share/doc/openfang/copyright",
    ] {
        assert!(listed.lines().any(|line| line.ends_with(path) && line.contains("root/root")), "{path} in {listed}");
    }
}

#[test]
fn the_image_is_complete_and_every_blob_is_what_its_name_says() {
    let (directory, out) = packed();
    let layout = directory.path().join("layout");
    fs::create_dir(&layout).unwrap();
    let image = out.join("openfang-9.8.7-linux-x86_64.oci.tar");
    capture(program("tar").arg("--extract").arg("--file").arg(image).arg("--directory").arg(&layout)).unwrap();
    let blob = |digest: &Value| {
        let digest = digest.as_str().unwrap().strip_prefix("sha256:").unwrap().to_owned();
        let bytes = fs::read(layout.join("blobs/sha256").join(&digest)).unwrap();
        assert_eq!(super::digest(&bytes), digest);
        bytes
    };
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();

    let index = read(&fs::read(layout.join("index.json")).unwrap());
    let manifest = read(&blob(&index["manifests"][0]["digest"]));
    let config = read(&blob(&manifest["config"]["digest"]));
    let layer = blob(&manifest["layers"][0]["digest"]);

    assert_eq!(config["rootfs"]["diff_ids"][0], manifest["layers"][0]["digest"]);
    assert_eq!(config["config"]["User"], "65532:65532");
    let file = directory.path().join("layer.tar");
    fs::write(&file, layer).unwrap();
    let listed = capture(program("tar").args(["--list", "--verbose", "--numeric-owner", "--file"]).arg(file)).unwrap();
    assert!(
        listed
            .lines()
            .any(|line| line.starts_with("drwx------ 65532/65532") && line.ends_with(" data/")),
        "{listed}"
    );
    assert!(
        listed
            .lines()
            .any(|line| line.starts_with("-rwxr-xr-x 0/0") && line.ends_with(" usr/bin/openfang"))
    );
}

#[test]
fn the_installer_installs_what_it_verified_and_takes_it_away_again() {
    let (directory, out) = packed();
    let home = directory.path().join("home");
    fs::create_dir(&home).unwrap();
    let base = served(out.clone());

    let installed = install(&out, &home, &base, &[]);
    let ran = capture(program(home.join(".local/bin/openfang")).arg("status")).unwrap();
    let again = install(&out, &home, &base, &[]);
    assert!(home.join(".local/share/man/man1/openfang.1").exists());
    let removed = install(&out, &home, &base, &["--uninstall"]);

    assert!(installed.status.success() && again.status.success(), "{installed:?} {again:?}");
    assert_eq!(ran, "it works\n");
    assert!(removed.status.success(), "{removed:?}");
    assert!(!home.join(".local/bin/openfang").exists() && !home.join(".local/share/openfang").exists());
}

#[test]
fn an_archive_that_is_not_what_the_checksum_says_is_not_installed() {
    let (directory, out) = packed();
    let home = directory.path().join("home");
    fs::create_dir(&home).unwrap();
    let archive = out.join("openfang-9.8.7-linux-x86_64.tar.gz");
    let mut bytes = fs::read(&archive).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&archive, bytes).unwrap();
    let base = served(out.clone());

    let changed = install(&out, &home, &base, &[]);
    fs::write(out.join("SHA256SUMS"), "").unwrap();
    let unnamed = install(&out, &home, &base, &[]);
    fs::remove_file(&archive).unwrap();
    let missing = install(&out, &home, &base, &[]);

    for (ran, why) in [(changed, "is wrong"), (unnamed, "does not name"), (missing, "cannot fetch")] {
        assert!(!ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains(why), "{ran:?}");
    }
    assert!(!home.join(".local").exists());
}

fn install(out: &Path, home: &Path, base: &str, args: &[&str]) -> Output {
    let mut install = program("sh");
    install.arg(out.join("install.sh")).args(args);
    install.env("HOME", home).env("OPENFANG_BASE", base).env_remove("http_proxy");
    install.env("PATH", "/usr/bin:/bin").output().unwrap()
}

/// Serves the files of a directory, as long as the test runs.
fn served(directory: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let path = lines
                .next()
                .and_then(|line| line.split(' ').nth(1).map(str::to_owned))
                .unwrap_or_default();
            lines.find(String::is_empty);
            let (status, body) = match fs::read(directory.join(path.trim_start_matches('/'))) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).unwrap();
        }
    });
    base
}

#[test]
fn a_dynamic_binary_is_told_from_a_static_one() {
    let ours = fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(elf::interpreter(&ours).unwrap().unwrap().contains("ld"), "tests are linked dynamically");
    let mut fixed = vec![0; 64];
    fixed[..6].copy_from_slice(b"\x7fELF\x02\x01");
    assert_eq!(elf::interpreter(&fixed).unwrap(), None);

    assert!(elf::interpreter(b"#!/bin/sh\n").is_err());
    assert!(elf::interpreter(&ours[..70]).is_err(), "cut off");
}

#[test]
fn words_that_dist_does_not_know_are_named() {
    let error = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
        request(&args).err().map(|error| error.to_string())
    };

    assert_eq!(error(&["--no-trial", "--out", "x", "--binary", "y"]), None);
    assert!(error(&["--fast"]).unwrap().contains("`--fast`"));
    assert!(error(&["--out"]).unwrap().contains("--out needs a value"));
}
