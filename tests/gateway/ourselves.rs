//! Becoming one's own server: tools that list themselves again and again.

use std::net::SocketAddr;

use openfang_kernel::KernelError;
use openfang_kernel::config_edit::Existing;
use openfang_types::config::Config;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::fixture::{House, helper, program, site};
use crate::support::binary::Openfang;

/// Another address for whatever is told to it later.
struct Alias {
    address: SocketAddr,
    target: watch::Sender<Option<SocketAddr>>,
    _tracker: TaskTracker,
}

impl Alias {
    #[expect(clippy::disallowed_methods, reason = "the alias dials the server under test")]
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (target, known) = watch::channel(None);
        let (address, tracker) = (listener.local_addr().unwrap(), TaskTracker::new());
        let carriers = tracker.clone();
        tracker.spawn(async move {
            while let Ok((mut from, _)) = listener.accept().await {
                let mut known = known.clone();
                carriers.spawn(async move {
                    let Ok(target) = known.wait_for(Option::is_some).await.map(|target| *target) else { return };
                    let Ok(mut to) = TcpStream::connect(target.unwrap()).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                });
            }
        });
        Self { address, target, _tracker: tracker }
    }
}

#[tokio::test]
async fn a_connection_to_ourselves_is_refused_under_whatever_name_it_goes() {
    let alias = Alias::new().await;
    let paths = ["/mcp", "/mcp/servers/other", "/sse"];
    let entries = paths
        .iter()
        .enumerate()
        .map(|(at, path)| site(&format!("self{at}"), format!("http://{}{path}", alias.address)));
    let config = Config {
        mcp_servers: entries.chain([super::fixture::odd("other", &[])]).collect(),
        allowed_hosts: vec![alias.address.to_string()],
        ..crate::http::any_port()
    };
    let home = openfang_testkit::TestHome::new().with_direct("hand", &["mcp_*"]);
    let house = House::configured(home, config, |boot| boot).await;
    house.ready("other").await;
    alias.target.send_replace(Some(house.server.address));

    for at in 0..paths.len() {
        let name = format!("self{at}");
        let status = house.failed(&name).await;
        let reason = status.reason.unwrap_or_default();
        assert!(reason.contains("this OpenFang itself"), "{name}: {reason}");
        assert!(status.tools.is_empty(), "{name}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_program_that_serves_our_own_home_is_refused() {
    let home = openfang_testkit::TestHome::new().with_direct("hand", &["mcp_*"]);
    let (binary, path) = (helper().to_str().unwrap().to_owned(), home.path().to_str().unwrap().to_owned());
    let command = [binary, "--home".to_owned(), path, "mcp".to_owned(), "--tools".to_owned()];
    let house = House::on(home, [program("self", &command)]).await;

    let reason = house.failed("self").await.reason.unwrap_or_default();

    assert!(reason.contains("this OpenFang itself"), "{reason}");
    house.close().await;
}

#[tokio::test]
async fn ourselves_cannot_be_added_and_another_openfang_can() {
    let (house, other) = (House::with([]).await, House::with([]).await);
    let address = house.server.address;
    for url in [format!("http://{address}/mcp"), format!("http://localhost:{}/mcp", address.port())] {
        let added = house.kernel().add_mcp_server(&house.operator(), site("self", url), Existing::Keep).await;
        assert!(matches!(added, Err(KernelError::OwnServer(_))), "{added:?}");
    }
    assert!(house.kernel().mcp_servers(&house.operator()).unwrap().configured.is_empty());

    let entry = site("other", format!("http://{}/mcp", other.server.address));
    house.kernel().add_mcp_server(&house.operator(), entry, Existing::Keep).await.unwrap();
    house.close().await;
    other.close().await;
}

#[test]
fn the_command_line_says_that_it_is_ourselves_and_writes_nothing() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    let url = format!("http://{}/mcp", daemon.address());

    let added = openfang.run(&["mcp", "add", "self", "--url", &url]);

    assert_eq!(added.code, 1, "{added:?}");
    assert!(added.stderr.contains("this OpenFang itself"), "{added:?}");
    let listed: Value = openfang.run(&["mcp", "list", "--json"]).json();
    assert_eq!(listed["configured"], Value::Array(Vec::new()));
}
