//! How much one owner may keep: what is full is refused in words that say what to do, and nobody else notices.

use openfang_testkit::{TestHome, callers};
use openfang_types::config::Config;
use openfang_types::task::TaskState;
use serde_json::json;

use crate::support::{assert_state, call, send};

fn small() -> Config {
    let mut config = Config::default();
    config.storage.owner_bytes = 20_000;
    config
}

#[tokio::test]
async fn an_owner_whose_storage_is_full_is_told_how_to_free_it_and_others_go_on() {
    let home = TestHome::new().with_direct("one", &["*"]);
    let kernel = home.boot_with(small()).start().unwrap();
    let (ada, bob) =
        (callers::user(&kernel, "ada", &["*", "agent:one"]), callers::user(&kernel, "bob", &["*", "agent:one"]));
    let write = async |who, path: &str, bytes: usize| {
        let content = "x".repeat(bytes);
        call(&kernel, who, "file_write", json!({"path": path, "content": content})).await.unwrap()
    };
    assert!(!write(&ada, "large.txt", 15_000).await.is_error);

    let refused = write(&ada, "more.txt", 10_000).await;

    assert!(refused.is_error);
    let said = refused.joined_text();
    assert!(said.contains("files 150") && said.contains("20000 are allowed"), "{said}");
    assert!(said.contains("storage.owner_bytes"), "{said}");
    assert!(
        call(&kernel, &ada, "file_read", json!({"path": "more.txt"})).await.unwrap().is_error,
        "nothing was written"
    );
    let value = "x".repeat(10_000);
    let stored = call(&kernel, &ada, "memory_store", json!({"key": "k", "value": value})).await.unwrap();
    assert!(stored.is_error && stored.joined_text().contains("storage of this owner is full"));
    let message = kernel.message("x".repeat(10_000));
    let task = kernel.send_message(&ada, &"one".parse().unwrap(), message).await.unwrap_err();
    assert_eq!(task.reason(), "owner_storage_full");

    assert!(!write(&bob, "more.txt", 10_000).await.is_error);
    assert!(!write(&ada, "large.txt", 10).await.is_error);
    assert!(!write(&ada, "more.txt", 10_000).await.is_error, "what was freed can be used");
    assert_state(&send(&kernel, &ada, "one", "/get_greeting").await, TaskState::Completed);
}

#[tokio::test]
async fn files_that_were_removed_by_hand_count_no_more() {
    let home = TestHome::new();
    let config = small();
    let kernel = home.boot_with(config.clone()).start().unwrap();
    let admin = callers::admin(&kernel);
    let content = "x".repeat(15_000);
    let write = json!({"path": "a/large.txt", "content": content});
    assert!(!call(&kernel, &admin, "file_write", write.clone()).await.unwrap().is_error);
    std::fs::remove_dir_all(home.path().join("workspaces/owners/admin/a")).unwrap();

    kernel.forget_removed_files().await.unwrap();

    let other = json!({"path": "other.txt", "content": content});
    let written = call(&kernel, &admin, "file_write", other).await.unwrap();
    assert!(!written.is_error, "{}", written.joined_text());
}
