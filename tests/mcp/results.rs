//! What a result lost, as a resource.

use openfang_kernel::Kernel;
use openfang_kernel::users::{KeyWanted, UserWanted};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, TestServer, callers};
use serde_json::{Value, json};

use super::wire::{ask_modern, request, session, texts};
use crate::results::{id_in, long_text};

async fn user(kernel: &Kernel, name: &str) -> String {
    let grants = vec!["*".to_owned(), "agent:cuts/*".to_owned()];
    let wanted = UserWanted { name: name.parse().unwrap(), grants, password: None, again: false };
    kernel.add_user(&callers::operator(kernel), wanted).await.unwrap();
    let wanted = KeyWanted {
        user: name.parse().unwrap(),
        label: "test".to_owned(),
        entry_label: None,
        profile: None,
        expires_at: None,
    };
    let made = kernel.create_user_key(&callers::operator(kernel), wanted).await.unwrap();
    made.key.expose().to_owned()
}

#[tokio::test]
async fn a_cut_result_is_a_resource_of_its_owner_before_and_after_a_restart() {
    let script = "[[rules]]\nsteps = [{ tool = { name = \"probe_say\" } }]\n";
    let (home, text) = (TestHome::new().with_script("cuts", &["*"], script), long_text());
    let boot = || home.boot_with(crate::http::any_port()).tool(Probe::say(&text).boxed()).start().unwrap();
    let server = TestServer::start(boot()).await;
    let keys = [user(&server.kernel, "ada").await, user(&server.kernel, "bob").await];
    let ada = server.client().bearer(&keys[0]);
    let read = |id: &str| json!({ "uri": format!("openfang://results/{id}") });

    let mut ids = Vec::new();
    for (tool, arguments) in [("probe_say", json!({})), ("openfang_agent_cuts", json!({"message": "go on"}))] {
        let call = json!({"name": tool, "arguments": arguments});
        let cut = ask_modern(&ada, "tools/call", call).await.json();
        ids.push(id_in(texts(&cut["result"]).last().unwrap()));
    }
    let check = async |server: &TestServer| {
        let [ada, bob] = [0, 1].map(|who: usize| server.client().bearer(&keys[who]));
        for id in &ids {
            let modern = ask_modern(&ada, "resources/read", read(id)).await.json();
            let content = &modern["result"]["contents"][0];
            assert_eq!(content["text"], text.as_str());
            assert_eq!(content["mimeType"], "text/plain");
            let legacy = session(&ada, "2025-11-25", json!({})).await;
            let legacy = legacy.post("/mcp", &request(2, "resources/read", read(id))).await.json();
            assert_eq!(legacy["result"]["contents"][0], *content);

            let other = ask_modern(&bob, "resources/read", read(id)).await.json();
            assert!(other.get("error").is_some());
            let fresh = "00000000-0000-4000-8000-000000000000";
            let unknown = ask_modern(&bob, "resources/read", read(fresh)).await.json();
            let named: Value = serde_json::from_str(&unknown.to_string().replace(fresh, id)).unwrap();
            assert_eq!(other, named);
        }
    };

    check(&server).await;
    server.stop().await;
    let server = TestServer::start(boot()).await;
    check(&server).await;
    let templates = ask_modern(&server.client().bearer(&keys[0]), "resources/templates/list", json!({}))
        .await
        .json();
    let listed = templates["result"]["resourceTemplates"].as_array().unwrap();
    assert!(listed.iter().any(|template| template["uriTemplate"] == "openfang://results/{id}"), "{templates}");
    server.stop().await;
}
