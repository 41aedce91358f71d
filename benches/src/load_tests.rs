//! The load generator against a server of a few lines.

use super::*;
use tokio::net::TcpListener;

/// Answers every request that fits one read; in two pieces, so that the reader has to wait.
async fn serve(listener: TcpListener, answer: &'static str) {
    let mut connections = JoinSet::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        connections.spawn(async move {
            let mut buffer = [0; 1024];
            while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {
                let (first, second) = answer.split_at(answer.len() - 3);
                stream.write_all(first.as_bytes()).await.unwrap();
                tokio::task::yield_now().await;
                stream.write_all(second.as_bytes()).await.unwrap();
            }
        });
    }
}

async fn target(servers: &mut JoinSet<()>, answer: &'static str) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    servers.spawn(serve(listener, answer));
    Target { pid: std::process::id(), requests: vec![wire::get("/", &address).into()], turns: Turns::Own, address }
}

#[tokio::test]
async fn every_request_of_a_round_is_answered_and_timed() {
    let mut servers = JoinSet::new();
    let target = target(&mut servers, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;

    let round = round(&target, 4, 100).await.unwrap();

    assert!(round.requests_per_second > 0.0 && round.p50_ms > 0.0 && round.p99_ms >= round.p50_ms, "{round:?}");
}

#[tokio::test]
async fn a_refusal_under_load_ends_the_round_with_what_was_said() {
    let mut servers = JoinSet::new();
    let target = target(&mut servers, "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 4\r\n\r\nslow").await;

    let error = round(&target, 1, 1).await.unwrap_err().to_string();

    assert!(error.starts_with("answered 429 under load"), "{error}");
}

#[tokio::test]
async fn one_request_gives_head_and_body() {
    let mut servers = JoinSet::new();
    let target = target(&mut servers, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;

    let (head, body) = once(&target.address, &target.requests[0]).await.unwrap();

    assert_eq!((head.status, &body[..]), (200, &b"hello"[..]));
}

#[test]
fn a_round_is_reduced_to_rate_percentiles_and_cpu() {
    let latencies = (1..=200).rev().map(Duration::from_millis).collect();

    let round = Round::of(latencies, Duration::from_secs(2), Duration::from_millis(4));

    assert_eq!(
        round,
        Round { requests_per_second: 100.0, p50_ms: 100.0, p99_ms: 198.0, cpu_micros: 20.0, cpu_spread: None }
    );
}

fn sending(turns: Turns, requests: &[&str], number: usize) -> ConnectionRequests {
    let requests = requests.iter().map(|request| Bytes::copy_from_slice(request.as_bytes())).collect();
    ConnectionRequests::new(&Target { pid: 0, address: String::new(), requests, turns }, number)
}

#[test]
fn every_fresh_request_has_an_id_of_its_own() {
    let request = format!("id={FRESH}!");
    let (mut one, mut other) = (sending(Turns::Fresh, &[&request], 0), sending(Turns::Fresh, &[&request], 1));

    let sent: std::collections::HashSet<Vec<u8>> = (0..1_000)
        .flat_map(|_| [one.next().unwrap().to_vec(), other.next().unwrap().to_vec()])
        .collect();

    assert_eq!(sent.len(), 2_000);
    for request in &sent {
        let id = request.strip_prefix(b"id=").and_then(|rest| rest.strip_suffix(b"!")).unwrap();
        assert_eq!(Uuid::try_parse_ascii(id).unwrap().get_version_num(), 4);
    }
}

#[test]
fn a_connection_repeats_its_own_request_or_goes_through_all() {
    let mut own = sending(Turns::Own, &["a", "b"], 3);
    let mut all = sending(Turns::All, &["a", "b"], 0);

    assert!((0..3).all(|_| own.next().unwrap() == b"b"));
    assert_eq!((0..4).map(|_| all.next().unwrap()[0]).collect::<Vec<_>>(), b"abab");
    assert!(sending(Turns::All, &[], 0).next().is_none());
}
