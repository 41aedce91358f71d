//! Real A2A clients, with the SDKs people use: each does all that it can with one agent, over both bindings where it
//! has both, and gets the same.

mod bridged;
mod facts;

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use serde_json::json;

use crate::support::binary::{Daemon, Openfang};
use crate::support::peers::{A2aClient, Binding, judged10};
use facts::Seen;

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A daemon with the agent that the clients know, and cards that are signed.
struct House {
    daemon: Daemon,
    card_key: PathBuf,
    _openfang: Openfang,
}

impl House {
    /// With a key, which all but the cards needs.
    fn locked() -> Self {
        Self::start(&format!("api_key = \"{KEY}\"\n"))
    }

    /// Whoever comes over loopback may come in.
    fn open() -> Self {
        Self::start("")
    }

    fn start(config: &str) -> Self {
        let openfang = Openfang::new();
        openfang.write("agents/tester/agent.toml", include_str!("../peers/a2a/agent.toml"));
        openfang.write("agents/tester/script.toml", include_str!("../peers/a2a/script.toml"));
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        openfang.write("card.pem", &key.serialize_pem());
        let a2a = format!("[a2a]\nenabled = true\ncard_key = \"{}\"\n", openfang.home().join("card.pem").display());
        openfang.write("config.toml", &format!("{config}default_agent = \"tester\"\n{a2a}"));
        let card_key = openfang.scratch("card.jwk");
        std::fs::write(&card_key, jwk(&key)).unwrap();
        Self { daemon: openfang.start(), card_key, _openfang: openfang }
    }

    fn base(&self) -> String {
        format!("http://{}", self.daemon.address())
    }
}

/// The public half, in the form that the SDKs take.
fn jwk(key: &KeyPair) -> String {
    // An uncompressed point: a byte that says so, then both coordinates.
    let (x, y) = key.public_key_raw()[1..].split_at(32);
    let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    json!({"kty": "EC", "crv": "P-256", "alg": "ES256", "x": encoded(x), "y": encoded(y)}).to_string()
}

fn does_the_whole_job(client: A2aClient, binding: Binding) {
    let house = House::locked();

    let done = client.at(&house.base(), binding).key(KEY).card_key(&house.card_key).run();

    for (operation, facts) in &done {
        facts::assert_good(operation, facts, client, binding, Seen::with_key(client));
    }
    assert!(done.len() > 15, "{:?}", done.keys());
}

macro_rules! clients {
    ($($name:ident: $client:ident, $binding:ident;)*) => {
        $(#[test]
        fn $name() {
            does_the_whole_job(A2aClient::$client, Binding::$binding);
        })*
    };
}

clients! {
    python_1_3_does_the_whole_job_over_json_rpc: Python13, JsonRpc;
    python_1_3_does_the_whole_job_over_http_json: Python13, HttpJson;
    python_0_3_does_the_whole_job_over_json_rpc: Python03, JsonRpc;
    python_0_3_does_the_whole_job_over_http_json: Python03, HttpJson;
    python_0_2_does_the_whole_job: Python02, JsonRpc;
    javascript_1_3_does_the_whole_job_over_json_rpc: Js13, JsonRpc;
    javascript_1_3_does_the_whole_job_over_http_json: Js13, HttpJson;
    javascript_0_3_does_the_whole_job_over_json_rpc: Js03, JsonRpc;
    javascript_0_3_does_the_whole_job_over_http_json: Js03, HttpJson;
    javascript_0_2_does_the_whole_job: Js02, JsonRpc;
    rust_does_the_whole_job_over_json_rpc: Rust, JsonRpc;
    rust_does_the_whole_job_over_http_json: Rust, HttpJson;
}

#[test]
fn without_a_key_anywhere_real_clients_need_none() {
    let house = House::open();
    for (client, binding) in [(A2aClient::Python13, Binding::HttpJson), (A2aClient::Js03, Binding::JsonRpc)] {
        let done = client.at(&house.base(), binding).only(&["card", "send", "stream"]).run();

        for (operation, facts) in &done {
            facts::assert_good(operation, facts, client, binding, Seen::Public);
        }
    }
}

#[test]
fn an_agent_has_a_card_of_its_own_by_which_real_clients_find_it() {
    let house = House::locked();
    let base = format!("{}/a2a/agents/tester", house.base());
    for client in [A2aClient::Python13, A2aClient::Python03, A2aClient::Js13, A2aClient::Rust] {
        for binding in [Binding::JsonRpc, Binding::HttpJson] {
            let done = client
                .at(&base, binding)
                .key(KEY)
                .only(&["card", "send", "stream", "get", "not_found"])
                .run();

            for (operation, facts) in &done {
                facts::assert_good(operation, facts, client, binding, Seen::with_key(client));
            }
        }
    }
}

#[test]
fn the_official_types_refuse_what_is_unknown_or_missing() {
    let status = json!({"state": "TASK_STATE_COMPLETED"});
    let task = json!({"id": "1", "contextId": "2", "status": status});
    let rows = [
        ("Task", task.clone(), None),
        ("StreamResponse", json!({"task": task}), None),
        ("ListTasksResponse", json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}), None),
        ("ListTasksResponse", json!({"tasks": [], "nextPageToken": "", "pageSize": 50}), Some("lacks totalSize")),
        ("Task", json!({"id": "1", "contextId": "2", "status": status, "kind": "task"}), Some("\"kind\"")),
        ("Task", json!({"contextId": "2", "status": status}), Some("'id'")),
        ("Task", json!({"id": "1", "contextId": "2", "status": {"state": "completed"}}), Some("enum value completed")),
        ("SendMessageResponse", json!({}), Some("holds nothing")),
        ("Song", json!({}), Some("none of")),
    ];

    let verdicts = judged10(rows.iter().map(|(kind, value, _)| (*kind, value)));

    assert_eq!(verdicts.len(), rows.len());
    for ((kind, value, expected), verdict) in rows.iter().zip(verdicts) {
        match expected {
            None => assert_eq!(verdict, None, "{kind} {value}"),
            Some(part) => {
                assert!(verdict.as_ref().is_some_and(|said| said.contains(part)), "{kind} {value} {verdict:?}")
            }
        }
    }
}
