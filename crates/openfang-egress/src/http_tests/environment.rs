//! What needs a process of its own. Proxies in the environment are ignored (A2C-08), a machine without trust roots still
//! reaches plain http, and memory stays flat whatever passes through. Each test runs itself once more.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::http::{Caps, HttpError, Patience};

use super::peer::{Peer, World, answer};

const AGAIN: &str = "OPENFANG_TEST_URL";

/// The URL, in the process that runs the test once more.
#[expect(clippy::disallowed_methods, reason = "the environment is what is tested, in a process of its own")]
fn url_of_the_second_run() -> Option<String> {
    std::env::var(AGAIN).ok()
}

/// Runs one of these tests once more, with a URL and an environment.
#[expect(clippy::disallowed_methods, reason = "the environment is what is tested, in a process of its own")]
fn again(test: &str, url: &str, environment: &[(&str, &str)]) {
    let (_, module) = module_path!().split_once("::").unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", &format!("{module}::{test}")]);
    again
        .env(AGAIN, url)
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .envs(environment.iter().copied());
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn proxies_in_the_environment_are_ignored() {
    if let Some(url) = url_of_the_second_run() {
        let world = World::new(&["127.0.0.1"]);
        assert_eq!(world.whole(world.operator(&url)).await.unwrap(), "direct");
        assert_eq!(world.whole(world.foreign(&url)).await.unwrap(), "direct");
        // A proxy would answer the CONNECT of https; the peer waits for the end of what is no request.
        let patience = Patience { connect: Duration::from_millis(100), ..Patience::default() };
        let secure = world.operator(&url.replace("http:", "https:")).patience(patience);
        let error = world.send(secure).await.unwrap_err();
        assert!(matches!(error, HttpError::ConnectTimeout { .. }), "{error:?}");
        return;
    }
    let peer = Peer::saying(answer(200, "", b"direct"));
    let proxy = Peer::saying(answer(200, "", b"by proxy"));
    let proxy_url = proxy.url("");
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

    again("proxies_in_the_environment_are_ignored", &peer.url("/"), &names.map(|name| (name, proxy_url.as_str())));

    assert_eq!((peer.accepted(), proxy.accepted()), (3, 0));
}

#[tokio::test]
async fn a_machine_without_trust_roots_reaches_plain_http_and_says_why_not_https() {
    if let Some(url) = url_of_the_second_run() {
        let world = World::new(&[]);
        assert_eq!(world.whole(world.operator(&url)).await.unwrap(), "plain");
        let error = world.send(world.operator(&url.replace("http:", "https:"))).await.unwrap_err();
        assert!(matches!(error, HttpError::Setup { .. }), "{error:?}");
        return;
    }
    let peer = Peer::saying(answer(200, "", b"plain"));
    let nowhere = [("SSL_CERT_FILE", "/nonexistent/file"), ("SSL_CERT_DIR", "/nonexistent/directory")];

    again("a_machine_without_trust_roots_reaches_plain_http_and_says_why_not_https", &peer.url("/"), &nowhere);

    assert_eq!(peer.accepted(), 1);
}

/// The most memory that this process has held so far, in KiB.
#[cfg(target_os = "linux")]
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_stays_flat_while_much_passes_through() {
    const MUCH: u64 = 200 * 1024 * 1024;
    if let Some(url) = url_of_the_second_run() {
        let world = World::new(&[]);
        let caps = Caps { decoded_bytes: MUCH, ratio: u64::MAX };
        let mut before = None;
        // The second answer is compressed, about a thousandfold.
        for _ in 0..2 {
            let mut body = world.send(world.operator(&url).caps(caps)).await.unwrap().body;
            let error = loop {
                match body.chunk().await {
                    Ok(chunk) => assert!(chunk.is_some(), "the body ended"),
                    Err(error) => break error,
                }
                before.get_or_insert_with(peak_kib);
            };
            assert!(matches!(error, HttpError::TooLarge { .. }), "{error:?}");
        }
        let grown = peak_kib() - before.unwrap();
        assert!(grown < 8 * 1024, "{grown} KiB more at the peak");
        return;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; 8 * 1024 * 1024]).unwrap();
    let zeros = encoder.finish().unwrap();
    let peer = Peer::new(move |nth, stream| {
        let (encoding, piece) = if nth == 0 { ("identity", &[b'x'; 8192][..]) } else { ("gzip", &zeros[..]) };
        write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: {encoding}\r\n\r\n").unwrap();
        while stream.write_all(piece).is_ok() {}
    });

    again("memory_stays_flat_while_much_passes_through", &peer.url("/"), &[]);

    assert_eq!(peer.accepted(), 2);
}
