//! Servers at a URL that misbehave, on raw sockets: each costs its own calls and nothing else.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use openfang_types::mcp_status::McpServerState;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::fixture::{House, odd, site};
use crate::support::peers::PeerServer;

/// Answers every connection like this, until the test ends.
struct Site {
    address: SocketAddr,
    visits: Arc<AtomicUsize>,
    serving: tokio::task::JoinHandle<()>,
}

impl Site {
    #[expect(clippy::disallowed_methods, reason = "it is aborted with the site")]
    async fn answering<F: Future<Output = ()> + Send>(answer: impl Fn(TcpStream) -> F + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, visits) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&visits);
        let serving = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            let answer = Arc::new(answer);
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let answer = Arc::clone(&answer);
                open.spawn(async move { answer(stream).await });
            }
        });
        Self { address, visits, serving }
    }

    /// Reads a request, and says this whatever it was.
    async fn saying(text: String) -> Self {
        Self::answering(move |mut stream| {
            let text = text.clone();
            async move {
                let mut request = vec![0; 65_536];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(text.as_bytes()).await;
            }
        })
        .await
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn page(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn a_site_that_is_no_mcp_server_is_failed_with_the_reason() {
    let answers = [
        page("200 OK\r\ncontent-type: text/html", "<html>\u{1b}[31mhello</html>"),
        page("200 OK\r\ncontent-type: application/json", "{\"jsonrpc\":\"2.0\""),
        page("500 Oops\r\ncontent-type: text/plain", "broken"),
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{".to_owned(),
        "SSH-2.0-OpenSSH_9.9\r\n".to_owned(),
        String::new(),
    ];
    for answer in answers {
        let nonsense = Site::saying(answer.clone()).await;
        let house = House::beside(site("odd", nonsense.url())).await;

        let status = house.failed("odd").await;

        let reason = status.reason.unwrap();
        assert!(reason.chars().all(|c| !c.is_control()) && reason.len() < 1_000, "{answer:?}: {reason:?}");
        house.neighbour_works().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_site_that_never_answers_holds_up_nobody_but_its_own_callers() {
    let silent = Site::answering(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let mut entry = site("silent", silent.url());
    entry.startup_timeout_secs = 2;
    let house = House::beside(entry).await;

    house.neighbour_works().await;
    let status = house.failed("silent").await;

    assert!(status.reason.as_ref().unwrap().contains("no answer within 2 s"), "{status:?}");
    assert!(silent.visits.load(Ordering::SeqCst) > 0);
    house.close().await;
}

/// Nobody is led from an operator's own server to somewhere else inside.
#[tokio::test]
async fn a_site_that_sends_us_elsewhere_is_not_followed_to_what_is_forbidden() {
    for target in ["http://169.254.169.254/latest/meta-data/", "file:///etc/passwd", "http://[fd00:ec2::254]/"] {
        let leading = Site::saying(page(&format!("307 Elsewhere\r\nlocation: {target}"), "")).await;
        let house = House::beside(site("leading", leading.url())).await;

        let status = house.failed("leading").await;

        assert!(status.tools.is_empty(), "{status:?}");
        house.neighbour_works().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_site_that_is_down_is_told_at_once_and_found_when_it_comes_back() {
    let server = PeerServer::Rmcp.http();
    let url = server.url();
    let house = House::with([site("coming", url), odd("neighbour", &[])]).await;
    house.ready("coming").await;
    assert!(house.says("mcp_coming_add_numbers", json!({"a": 1, "b": 2})).await.contains('3'));

    let address = server.address();
    drop(server);
    let said = house.says("mcp_coming_add_numbers", json!({"a": 1, "b": 2})).await;
    assert!(said.starts_with('!'), "{said}");
    house.neighbour_works().await;
    let _back = PeerServer::Rmcp.http_at(address);

    house.reconnect("coming").await;
    house.until("coming", |status| status.state == McpServerState::Ready).await;
    assert!(house.says("mcp_coming_add_numbers", json!({"a": 1, "b": 2})).await.contains('3'));
    house.close().await;
}

/// The body of a request, read whole, and the session it names.
async fn request(stream: &mut TcpStream) -> Option<(Value, Option<String>)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(':'));
            lines
                .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim().to_owned())
                .next()
        };
        let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some((serde_json::from_str(body).unwrap_or_default(), header("mcp-session-id")));
        }
    }
}

/// A server that forgets the first session once a tool is called in it.
async fn forgetful(calls: Arc<AtomicUsize>) -> Site {
    let sessions = Arc::new(AtomicUsize::new(0));
    Site::answering(move |mut stream| {
        let (sessions, calls) = (Arc::clone(&sessions), Arc::clone(&calls));
        async move {
            let Some((asked, session)) = request(&mut stream).await else { return };
            let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string();
            let ok = "200 OK\r\ncontent-type: application/json";
            let said = match asked["method"].as_str() {
                Some("initialize") => {
                    let number = sessions.fetch_add(1, Ordering::SeqCst) + 1;
                    let result = json!({
                        "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                        "serverInfo": { "name": "forgetful", "version": "1" },
                    });
                    page(&format!("{ok}\r\nmcp-session-id: s{number}"), &answer(result))
                }
                Some("notifications/initialized") => page("202 Accepted", ""),
                Some("tools/list") => {
                    let tools = json!({ "tools": [{ "name": "count", "inputSchema": { "type": "object" } }] });
                    page(ok, &answer(tools))
                }
                Some("tools/call") if session.as_deref() == Some("s1") => page("404 Not Found", ""),
                Some("tools/call") => {
                    let number = calls.fetch_add(1, Ordering::SeqCst) + 1;
                    let text = format!("call {number}");
                    page(ok, &answer(json!({ "content": [{ "type": "text", "text": text }] })))
                }
                _ => page("405 Method Not Allowed", ""),
            };
            let _ = stream.write_all(said.as_bytes()).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_server_that_forgot_our_session_is_greeted_again_and_the_call_is_made_once() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = forgetful(Arc::clone(&calls)).await;
    let house = House::with([site("forgetful", server.url())]).await;
    house.ready("forgetful").await;

    assert_eq!(house.says("mcp_forgetful_count", json!({})).await, "call 1");

    assert_eq!(calls.load(Ordering::SeqCst), 1);
    house.close().await;
}
