//! What a result lost on its way stays readable for its owner, for a while, and for nobody else.

use std::time::Duration;

use openfang_kernel::{Caller, Kernel};
use openfang_testkit::clock::HandClock;
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::Config;
use openfang_types::content::ToolOutput;
use openfang_types::limits::Limits;
use openfang_types::taint::Label;
use serde_json::json;

use crate::support::binary::Openfang;
use crate::support::{artifact_text, call, send};

/// A text of 200,000 characters, no two parts of which are alike.
pub(crate) fn long_text() -> String {
    (0..20_000).map(|number| format!("{number:06}\u{e4}\u{1f980}\n\"")).collect()
}

/// What follows a word in a text, up to the next comma or bracket.
fn after<'a>(text: &'a str, word: &str) -> &'a str {
    let (_, rest) = text
        .rsplit_once(word)
        .unwrap_or_else(|| panic!("no {word:?} in {:?}", &text[..text.len().min(300)]));
    rest.split([',', ']']).next().unwrap()
}

/// The id that a shortened result names.
pub(crate) fn id_in(text: &str) -> String {
    after(text, "result_read, id ").to_owned()
}

async fn read(kernel: &Kernel, caller: &Caller, id: &str, offset: usize) -> ToolOutput {
    call(kernel, caller, "result_read", json!({ "id": id, "offset": offset })).await.unwrap()
}

/// All of a kept result, from an offset on, piece by piece; and how many pieces there were.
async fn read_all(kernel: &Kernel, caller: &Caller, id: &str, offset: usize) -> (String, usize) {
    let (mut all, mut offset, mut pieces) = (String::new(), offset, 0);
    loop {
        let output = read(kernel, caller, id, offset).await;
        assert!(!output.is_error, "{output:?}");
        let [piece, note] = &output.content[..] else { panic!("a piece and a note, not {output:?}") };
        all.push_str(&piece.as_text().unwrap());
        pieces += 1;
        let note = note.as_text().unwrap().into_owned();
        if note.ends_with("this is the end]") {
            return (all, pieces);
        }
        offset = after(&note, "offset ").parse().unwrap();
    }
}

#[tokio::test]
async fn a_result_that_was_cut_is_read_back_completely_in_pieces() {
    let (home, text) = (TestHome::new(), long_text());
    let kernel = home.boot().tool(Probe::say(&text).boxed()).start().unwrap();
    let admin = callers::admin(&kernel);

    let cut = call(&kernel, &admin, "probe_say", json!({})).await.unwrap().joined_text();
    let id = id_in(&cut);
    let offset: usize = after(&cut, "offset ").parse().unwrap();

    assert!(!cut.is_empty() && cut.chars().count() <= 50_000);
    assert_eq!(read_all(&kernel, &admin, &id, 0).await, (text.clone(), 5));
    let (rest, _) = read_all(&kernel, &admin, &id, offset).await;
    let shown: String = cut.chars().take(offset).collect();
    assert_eq!(format!("{shown}{rest}"), text, "what is shown and the rest are all of it");
    let piece = call(&kernel, &admin, "result_read", json!({"id": id, "offset": 6, "limit": 2}))
        .await
        .unwrap();
    assert_eq!(piece.content[0].as_text().unwrap(), "\u{e4}\u{1f980}");
}

#[tokio::test]
async fn a_kept_result_has_the_labels_of_the_result() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    home.write("workspaces/owners/admin/long.txt", &long_text());

    let cut = call(&kernel, &admin, "file_read", json!({"path": "long.txt"})).await.unwrap();
    let kept = read(&kernel, &admin, &id_in(&cut.joined_text()), 0).await;

    assert_eq!(kept.labels, cut.labels);
    assert_eq!(kept.labels.sources(Label::Workspace).unwrap().to_string(), "file long.txt");
}

#[tokio::test]
async fn an_agent_reads_on_where_its_result_was_cut() {
    let (home, text) = (TestHome::new().with_direct("one", &["*"]), long_text());
    let kernel = home.boot().tool(Probe::say(&text).boxed()).start().unwrap();
    let ada = callers::user(&kernel, "ada", &["*", "agent:one/*"]);

    let task = send(&kernel, &ada, "one", "/probe_say {}").await;
    let id = id_in(&artifact_text(&task, "probe_say-result"));
    let ask = format!("/result_read {{\"id\": \"{id}\", \"offset\": 199990}}");
    let read = send(&kernel, &ada, "one", &ask).await;

    let said = artifact_text(&read, "result_read-result");
    assert!(said.starts_with(&text[text.len() - 14..]), "{said}");
    assert!(said.contains("characters 199990 to 200000 of 200000"), "{said}");
}

#[tokio::test]
async fn anothers_unknown_and_expired_results_look_the_same() {
    let home = TestHome::new();
    let clock = HandClock::default();
    let boot = home.boot().tool(Probe::say(&long_text()).boxed());
    let kernel = boot.clock(std::sync::Arc::new(clock.clone())).start().unwrap();
    let (ada, bob) = (callers::user(&kernel, "ada", &["*"]), callers::user(&kernel, "bob", &["*"]));
    let id = id_in(&call(&kernel, &ada, "probe_say", json!({})).await.unwrap().joined_text());
    let said = async |who: &Caller| {
        let output = read(&kernel, who, &id, 0).await;
        (output.is_error, serde_json::to_string(&output).unwrap())
    };
    let elsewhere = TestHome::new();
    let unknown = elsewhere.kernel();
    let expected = read(&unknown, &callers::user(&unknown, "ada", &["*"]), &id, 0).await;
    let expected = (true, serde_json::to_string(&expected).unwrap());

    assert!(!said(&ada).await.0);
    assert_eq!(said(&bob).await, expected);
    clock.advance(Duration::from_secs(24 * 3_600 - 1));
    assert!(!said(&ada).await.0);
    clock.advance(Duration::from_secs(1));
    assert_eq!(said(&ada).await, expected);
    assert_eq!(kernel.delete_expired_results().await, Ok(1));
    assert_eq!(kernel.delete_expired_results().await, Ok(0));
    let malformed = read(&kernel, &ada, "../x", 0).await;
    assert!(malformed.is_error && malformed.joined_text().starts_with("there is no kept result ../x;"));
}

#[tokio::test]
async fn a_result_is_kept_for_those_who_are_narrowed_like_its_caller() {
    let home = TestHome::new();
    let kernel = home.boot().tool(Probe::say(&long_text()).boxed()).start().unwrap();
    let ada = callers::user(&kernel, "ada", &["*"]);
    let bringing = |label| {
        let principal = openfang_types::principal::Principal::clone(&ada.principal).bringing(label);
        Caller { principal: principal.into(), ..ada.clone() }
    };
    let (untrusted, labelled) = (bringing(Some(Label::UntrustedAgent)), bringing(Some(Label::User)));
    let of_person = id_in(&call(&kernel, &ada, "probe_say", json!({})).await.unwrap().joined_text());
    let of_untrusted = id_in(&call(&kernel, &untrusted, "probe_say", json!({})).await.unwrap().joined_text());

    for narrowed in [&untrusted, &labelled] {
        let said = read(&kernel, narrowed, &of_person, 0).await;
        assert!(said.is_error && said.joined_text().starts_with("there is no kept result"), "{said:?}");
    }
    assert!(read(&kernel, &labelled, &of_untrusted, 0).await.is_error);
    assert!(!read(&kernel, &untrusted, &of_untrusted, 0).await.is_error);
    assert!(!read(&kernel, &ada, &of_untrusted, 0).await.is_error, "a whole caller reads all that is its owner's");
}

#[tokio::test]
async fn whoever_was_not_granted_the_tool_has_none() {
    let home = TestHome::new();
    let kernel = home.boot().tool(Probe::say(&long_text()).boxed()).start().unwrap();
    let ada = callers::user(&kernel, "ada", &["probe_*"]);
    let id = id_in(&call(&kernel, &ada, "probe_say", json!({})).await.unwrap().joined_text());

    let refused = call(&kernel, &ada, "result_read", json!({ "id": id })).await.unwrap_err();

    assert_eq!(refused.reason(), "unknown_tool");
}

#[tokio::test]
async fn a_result_that_cannot_be_kept_says_so_and_the_call_succeeds() {
    let (home, text) = (TestHome::new(), "x".repeat(200_000));
    let mut config = Config::default();
    config.storage.owner_bytes = 1_000_000;
    let kernel = home.boot_with(config).tool(Probe::say(&text).boxed()).start().unwrap();
    let (ada, bob) = (callers::user(&kernel, "ada", &["*"]), callers::user(&kernel, "bob", &["*"]));
    let say = async |who: &Caller| call(&kernel, who, "probe_say", json!({})).await.unwrap();
    let first = say(&ada).await.joined_text();

    let second = say(&ada).await;

    assert!(!second.is_error);
    let said = second.joined_text();
    assert!(said.ends_with("more characters, which are not kept: there is no room for more kept results]"));
    assert_eq!(read_all(&kernel, &ada, &id_in(&first), 0).await.0, text);
    assert!(say(&bob).await.joined_text().contains("result_read, id "), "others have their own room");
}

#[tokio::test]
async fn where_nothing_is_kept_the_marker_says_so() {
    let home = TestHome::new();
    let limits = Limits { kept_result_secs: 0, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let kernel = home.boot_with(config).tool(Probe::say(&long_text()).boxed()).start().unwrap();

    let said = call(&kernel, &callers::admin(&kernel), "probe_say", json!({}))
        .await
        .unwrap()
        .joined_text();

    assert!(said.ends_with("which are not kept: limits.kept_result_secs is 0]"));
}

#[test]
fn at_the_command_line_a_cut_result_is_read_back_by_later_commands_and_through_a_server() {
    let (openfang, text) = (Openfang::new(), long_text());
    openfang.write("workspaces/owners/admin/long.txt", &text);
    let cut = openfang.run(&["tool", "call", "file_read", "--args", r#"{"path": "long.txt"}"#]);
    assert_eq!(cut.code, 0, "{cut:?}");
    let id = id_in(&cut.stdout);
    let read = |offset: usize| {
        let arguments = json!({ "id": id, "offset": offset }).to_string();
        let ran = openfang.run(&["tool", "call", "result_read", "--args", &arguments, "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let read_all = || {
        let mut all = String::new();
        while all.chars().count() < 200_000 {
            all.push_str(&read(all.chars().count()));
        }
        all
    };

    assert_eq!(read_all(), text);
    let daemon = openfang.start();
    assert_eq!(read_all(), text);
    drop(daemon);
}
