//! Clients of one version and an agent of another: through us each gets what it gets from an agent of its own version.

use super::House;
use super::facts::{self, Seen};
use crate::support::binary::{Daemon, Openfang};
use crate::support::peers::{A2aClient, Binding};

/// What a client does with the agent; the rest of its job concerns the server that it talks to.
const OPERATIONS: [&str; 8] = ["send", "data", "file", "artifacts", "stream", "get", "cancel", "not_found"];

/// A server whose agent `tester` is the one of another server, spoken to in one version.
fn in_front_of(far: &House, protocol: &str) -> (Daemon, Openfang) {
    let near = Openfang::new();
    let url = format!("{}/a2a/agents/tester", far.base());
    near.write(
        "config.toml",
        &format!(
            "default_agent = \"tester\"\n[a2a]\nenabled = true\n\n[[a2a.external_agents]]\nname = \"tester\"\n\
             url = \"{url}\"\nprotocol = \"{protocol}\"\npublic = true\n"
        ),
    );
    (near.start(), near)
}

fn gets_the_same_through_us(protocol: &str, clients: &[(A2aClient, Binding)]) {
    let far = House::open();
    let (near, _home) = in_front_of(&far, protocol);
    for (client, binding) in clients {
        let base = format!("http://{}", near.address());
        let done = client.at(&base, *binding).only(&OPERATIONS).run();
        assert!(done.len() >= OPERATIONS.len(), "{client:?}: {:?}", done.keys());
        for (operation, facts) in &done {
            facts::assert_good(operation, facts, *client, *binding, Seen::Public);
        }
    }
}

#[test]
fn old_clients_reach_an_agent_of_1_0_and_get_what_they_know() {
    let clients = [
        (A2aClient::Python03, Binding::JsonRpc),
        (A2aClient::Js03, Binding::HttpJson),
        (A2aClient::Python02, Binding::JsonRpc),
        (A2aClient::Js02, Binding::JsonRpc),
    ];
    gets_the_same_through_us("1.0", &clients);
}

#[test]
fn clients_of_1_0_reach_an_agent_of_0_2_and_get_what_they_know() {
    let clients = [
        (A2aClient::Python13, Binding::JsonRpc),
        (A2aClient::Js13, Binding::HttpJson),
        (A2aClient::Rust, Binding::JsonRpc),
    ];
    gets_the_same_through_us("0.2", &clients);
}
