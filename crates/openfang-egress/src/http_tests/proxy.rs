//! Proxies from the environment are ignored (A2C-08). The test runs itself once more with them set.

use std::process::Command;

use super::peer::{Peer, World, answer};

const PROXIED: &str = "OPENFANG_TEST_PROXIED_URL";

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the environment is what is tested, in a process of its own")]
async fn proxies_in_the_environment_are_ignored() {
    if let Ok(url) = std::env::var(PROXIED) {
        let world = World::new(&["127.0.0.1"]);
        assert_eq!(world.whole(world.operator(&url)).await.unwrap(), "direct");
        assert_eq!(world.whole(world.foreign(&url)).await.unwrap(), "direct");
        return;
    }
    let peer = Peer::saying(answer(200, "", b"direct"));
    let proxy = Peer::saying(answer(200, "", b"by proxy"));
    let (_, module) = module_path!().split_once("::").unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", &format!("{module}::proxies_in_the_environment_are_ignored")]);
    again.env(PROXIED, peer.url("/")).env_remove("NO_PROXY").env_remove("no_proxy");
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        again.env(name, proxy.url(""));
    }

    let output = again.output().unwrap();

    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!((peer.accepted(), proxy.accepted()), (2, 0));
}
