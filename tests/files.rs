//! The file tools: inside the caller's workspace, and nowhere else.

use openfang_testkit::{TestHome, callers};
use serde_json::json;

use crate::support::{artifact_text, call, send, status_text};

#[tokio::test]
async fn what_is_written_is_listed_and_read_again() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let text = async |tool: &str, arguments| call(&kernel, &admin, tool, arguments).await.unwrap().joined_text();

    assert_eq!(text("file_list", json!({})).await, "(empty)");
    assert_eq!(text("file_write", json!({"path": "a/b.txt", "content": "hällo"})).await, "created a/b.txt, 6 bytes");
    assert_eq!(text("file_write", json!({"path": "a/b.txt", "content": "hi"})).await, "replaced a/b.txt, 2 bytes");
    assert_eq!(text("file_read", json!({"path": "a/b.txt"})).await, "hi");
    assert_eq!(text("file_list", json!({})).await, "a/");
    assert_eq!(text("file_list", json!({"path": "a"})).await, "b.txt (2 bytes)");
}

#[tokio::test]
async fn each_agent_and_each_owner_has_a_workspace_of_its_own() {
    let home = TestHome::new().with_direct("one", &["file_*"]).with_direct("two", &["file_*"]);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let ada = callers::user(&kernel, "ada", &["file_*"]);

    send(&kernel, &admin, "one", r#"/file_write {"path": "x.txt", "content": "of one"}"#).await;

    let own = send(&kernel, &admin, "one", r#"/file_read {"path": "x.txt"}"#).await;
    assert_eq!(artifact_text(&own, "file_read-result"), "of one");
    let other = send(&kernel, &admin, "two", r#"/file_read {"path": "x.txt"}"#).await;
    assert!(status_text(&other).contains("x.txt"), "{}", status_text(&other));
    assert!(call(&kernel, &ada, "file_read", json!({"path": "x.txt"})).await.unwrap().is_error);
    assert!(call(&kernel, &admin, "file_read", json!({"path": "x.txt"})).await.unwrap().is_error);
}

/// PTH-09: our own files stay closed to tools, even by a hard link inside the workspace.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn our_own_files_are_denied_even_beneath_the_workspace() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    home.write("workspaces/owners/admin/own.txt", "mine");
    let workspace = home.path().join("workspaces/owners/admin");
    let key = home.path().join("data/secret.key");
    let config = home.path().join("config.toml");
    let before = (std::fs::read(&key).unwrap(), std::fs::read(&config).unwrap());
    std::fs::hard_link(&key, workspace.join("key")).unwrap();
    std::fs::hard_link(&config, workspace.join("config")).unwrap();

    for path in ["key", "config", "../../../data/secret.key", "../../../config.toml", "/etc/passwd", "~/x"] {
        let read = call(&kernel, &admin, "file_read", json!({"path": path})).await.unwrap();
        assert!(read.is_error, "{path}: {}", read.joined_text());
        let write = call(&kernel, &admin, "file_write", json!({"path": path, "content": "x"})).await.unwrap();
        assert!(write.is_error, "{path}: {}", write.joined_text());
    }
    assert_eq!((std::fs::read(&key).unwrap(), std::fs::read(&config).unwrap()), before);
    let own = call(&kernel, &admin, "file_read", json!({"path": "own.txt"})).await.unwrap();
    assert_eq!(own.joined_text(), "mine");
}
