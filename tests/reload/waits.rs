//! What lets more callers in waits for a person.

use serde_json::json;

use super::fixture::{DEFAULTS, add_agent, agents, operator, reload, replace, running, settings, until};

#[test]
fn more_hosts_wait_for_a_person_and_agents_do_not() {
    let (openfang, _daemon) = running(DEFAULTS);
    replace(&openfang, "config.toml", "allowed_hosts = [\"other.example\"]\n[limits]\nbody_bytes = 4_000_000\n");
    add_agent(&openfang, "late", "get_greeting");

    let waiting =
        until("it waits", || settings(&openfang)["waiting"].as_array().filter(|all| !all.is_empty()).cloned());
    assert_eq!(waiting, [json!("allowed_hosts accepts more names")]);
    assert_eq!(agents(&openfang), ["late", "starter"]);
    let shown = openfang.run(&["status"]);
    assert!(shown.stdout.contains("allowed_hosts accepts more names"), "{shown:?}");
    assert!(shown.stderr.contains("openfang reload"), "{shown:?}");

    let report = reload(&openfang);

    assert_eq!(report["changed"], json!(["allowed_hosts", "limits.body_bytes"]));
    assert_eq!(settings(&openfang)["waiting"], json!([]));
}

#[tokio::test]
async fn the_last_credential_goes_by_the_word_of_a_person_on_this_machine_only() {
    let (openfang, daemon) = running("api_key = \"the-only-key-there-is\"\n");
    let remote = daemon.client().bearer("the-only-key-there-is");
    replace(&openfang, "config.toml", "# nothing\n");

    let report = remote.post("/api/config/reload", &json!({})).await.json();
    assert_eq!(report["changed"], json!([]));
    assert!(report["waiting"][0].as_str().unwrap().starts_with("api_key is removed"), "{report}");
    assert_eq!(daemon.client().get("/api/me").await.status, 401);
    assert_eq!(daemon.client().post("/api/config/reload", &json!({})).await.status, 401);

    assert_eq!(reload(&openfang)["changed"], json!(["api_key"]));
    assert_eq!(daemon.client().get("/api/me").await.status, 200);
    // Whoever is let in without a credential is not the admin.
    assert_eq!(daemon.client().post("/api/config/reload", &json!({})).await.status, 403);
    assert_eq!(operator(&openfang, &daemon).post("/api/config/reload", &json!({})).await.status, 200);
}
