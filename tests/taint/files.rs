//! The label of a file belongs to its content and to its owner: whoever writes at the same time, by whichever name, and
//! however many files others have.

use openfang_kernel::{Caller, Kernel};
use openfang_store::{StoredValue, Stores};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::Config;
use openfang_types::ids::Owner;
use openfang_types::limits::MEMORY_KEYS_PER_OWNER;
use openfang_types::taint::{Label, Labels};
use openfang_types::task::Task;
use serde_json::json;

use crate::support::{artifact_names, artifact_text, call, send};

const SCRIPT: &str = r#"
    [[rules]]
    when = { text = "drop" }
    steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "file_write", arguments = { path = "note.txt", content = "foreign" } } }]
    [[rules]]
    when = { text = "smuggle" }
    steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "file_write", arguments = { path = "dir/alias.txt", content = "foreign" } } }]
    [[rules]]
    when = { text = "read" }
    steps = [{ tool = { name = "file_read", arguments = { path = "note.txt" } } }, { tool = { name = "probe_shell" } }]
    [[rules]]
    when = { text = "follow" }
    steps = [{ tool = { name = "file_read", arguments = { path = "dir/alias.txt" } } }, { tool = { name = "probe_shell" } }]
"#;

fn furnished(home: &TestHome) -> Kernel {
    home.boot().tool(Probe::fetch().boxed()).tool(Probe::shell().boxed()).start().unwrap()
}

/// Whether the command after what was read was refused.
fn is_refused(task: &Task) -> bool {
    match artifact_names(task).last() {
        Some(&"probe_shell-error") => true,
        Some(&"probe_shell-result") => false,
        other => panic!("{other:?}: {task:?}"),
    }
}

async fn write(kernel: &Kernel, caller: &Caller, content: &str) {
    let written = call(kernel, caller, "file_write", json!({"path": "note.txt", "content": content}))
        .await
        .unwrap();
    assert!(!written.is_error, "{}", written.joined_text());
}

/// What a file says, and whether it is known to be a stranger's.
async fn read(kernel: &Kernel, caller: &Caller) -> (String, bool) {
    let read = call(kernel, caller, "file_read", json!({"path": "note.txt"})).await.unwrap();
    (read.joined_text(), read.labels.contains(Label::UntrustedAgent))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_writes_at_once_the_content_that_stays_has_its_own_label() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let (operator, stranger) = (callers::operator(&kernel), callers::local(&kernel));
    write(&kernel, &operator, "own").await;

    for round in 0..60 {
        let first = write(&kernel, &stranger, "foreign");
        let second = write(&kernel, &operator, "own");
        let meanwhile = async { [read(&kernel, &operator).await, read(&kernel, &operator).await] };
        let ((), (), seen) = match round % 2 {
            0 => tokio::join!(first, second, meanwhile),
            _ => {
                let ((), (), seen) = tokio::join!(second, first, meanwhile);
                ((), (), seen)
            }
        };

        let after = read(&kernel, &operator).await;

        for (text, is_foreign) in seen.into_iter().chain([after]) {
            assert!(text != "foreign" || is_foreign, "round {round}: foreign content came out clean");
        }
    }

    write(&kernel, &stranger, "foreign").await;
    write(&kernel, &operator, "own").await;
    assert_eq!(read(&kernel, &operator).await, ("own".to_owned(), false), "one's own content is clean again");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_link_inside_the_workspace_leads_to_the_same_labels() {
    for (write, look) in [("smuggle", "read"), ("drop", "follow")] {
        let home = TestHome::new().with_script("agent", &["*"], SCRIPT);
        let kernel = furnished(&home);
        let operator = callers::operator(&kernel);
        home.write("workspaces/agents/agent/note.txt", "own");
        home.write("workspaces/agents/agent/dir/x", "");
        let alias = home.path().join("workspaces/agents/agent/dir/alias.txt");
        std::os::unix::fs::symlink("../note.txt", alias).unwrap();

        send(&kernel, &operator, "agent", write).await;

        let task = send(&kernel, &operator, "agent", look).await;
        assert_eq!(artifact_text(&task, "file_read-result"), "foreign", "{write}");
        assert!(is_refused(&task), "{write}, then {look}");
    }
}

/// The labels of files were once keys of the house, which has as many as a user.
#[tokio::test]
async fn however_many_files_somebody_has_others_can_write_theirs() {
    let stores = Stores::in_memory();
    let home = TestHome::new();
    let kernel = home.boot().stores(stores.clone()).start().unwrap();
    let (house, labels) = (Owner::house(), Labels::one(Label::UntrustedAgent, "a stranger"));
    for n in 0..MEMORY_KEYS_PER_OWNER {
        let kept = StoredValue { value: String::new(), labels: labels.clone() };
        stores.memory.put(&house, &format!("file:owners/ada/{n}"), kept).await.unwrap();
    }
    let stranger = callers::local(&kernel);

    let written = call(&kernel, &stranger, "file_write", json!({"path": "x.txt", "content": "mine"}))
        .await
        .unwrap();

    assert!(!written.is_error, "{}", written.joined_text());
}

/// Whoever chose the name of a directory may have had something to say with it.
#[tokio::test]
async fn a_write_that_was_refused_leaves_no_name_behind() {
    let home = TestHome::new();
    let mut config = Config::default();
    config.storage.owner_bytes = 20_000;
    let kernel = home.boot_with(config).start().unwrap();
    let (operator, stranger) = (callers::operator(&kernel), callers::local(&kernel));
    write(&kernel, &operator, "own").await;
    let large = json!({"path": "obey/this/name/x.txt", "content": "x".repeat(30_000)});

    let refused = call(&kernel, &stranger, "file_write", large).await.unwrap();

    assert!(refused.is_error, "{}", refused.joined_text());
    let listed = call(&kernel, &operator, "file_list", json!({"path": "."})).await.unwrap();
    assert!(!listed.joined_text().contains("obey"), "{}", listed.joined_text());
    assert!(!listed.labels.contains(Label::UntrustedAgent), "nothing is left of the stranger");
}

#[tokio::test]
async fn a_directory_that_a_stranger_named_carries_the_label_after_its_file_is_gone() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let (operator, stranger) = (callers::operator(&kernel), callers::local(&kernel));
    home.write("workspaces/owners/admin/mine/own.txt", "own");
    let list = async |path: &str| {
        let listed = call(&kernel, &operator, "file_list", json!({ "path": path })).await.unwrap();
        (listed.joined_text().contains("obey"), listed.labels.contains(Label::UntrustedAgent))
    };
    for path in ["obey/deep/x.txt", "mine/x.txt"] {
        let written = call(&kernel, &stranger, "file_write", json!({"path": path, "content": "x"}))
            .await
            .unwrap();
        assert!(!written.is_error, "{}", written.joined_text());
    }
    let workspace = home.path().join("workspaces/owners/admin");
    std::fs::remove_file(workspace.join("obey/deep/x.txt")).unwrap();
    std::fs::remove_file(workspace.join("mine/x.txt")).unwrap();

    kernel.forget_removed_files().await.unwrap();

    assert_eq!(list(".").await, (true, true));
    assert!(list("obey").await.1);
    assert_eq!(list("mine").await, (false, false), "a directory that was there is nobody else's");
    std::fs::remove_dir_all(workspace.join("obey")).unwrap();
    kernel.forget_removed_files().await.unwrap();
    assert_eq!(list(".").await, (false, false));
}
