//! Agents with a model and skills.

use openfang_testkit::callers;
use openfang_testkit::probes::Probe;
use openfang_types::principal::{AdminProof, Door, Principal};
use openfang_types::skills::SkillAction;
use openfang_types::taint::{Label, Labels};
use openfang_types::task::{Message, Part, TaskState};
use serde_json::{Value, json};

use super::fixture::{PDF, Stage, change, trust_and_enable};
use crate::model_agents::fixture::{calls, reply_of, results_of, says};
use crate::support::{assert_state, send, status_text};

fn tool_names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array();
    tools
        .into_iter()
        .flatten()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn an_agent_is_offered_its_skills_activates_one_and_reads_a_file_of_it() {
    let mut stage = Stage::ready(&["add_numbers"]).await;
    stage.provider.script([
        calls(&[("c1", "activate_skill", json!({ "name": "pdf-forms" }))]),
        calls(&[("c2", "activate_skill", json!({ "name": "pdf-forms", "file": "references/fields.md" }))]),
        calls(&[("c3", "activate_skill", json!({ "name": "pdf-forms" }))]),
        says("Done."),
    ]);

    let task = send(&stage.kernel, &callers::admin(&stage.kernel), "thinker", "Fill this form").await;

    assert_state(&task, TaskState::Completed);
    let first = stage.provider.next_request().await.json();
    assert_eq!(tool_names(&first), ["activate_skill", "add_numbers"]);
    let offered = first["tools"][0]["function"].to_string();
    assert!(offered.contains("Fills PDF forms") && offered.contains("\"enum\":[\"pdf-forms\"]"), "{offered}");
    assert!(!first.to_string().contains("okapi"));
    for _ in 0..2 {
        stage.provider.next_request().await;
    }
    let last = stage.provider.next_request().await.json();
    let results = results_of(last["messages"].as_array().unwrap());
    assert!(
        results[0].1.contains("<skill_content name=\"pdf-forms\">") && results[0].1.contains("okapi"),
        "{results:?}"
    );
    assert!(results[0].1.contains("references/fields.md") && !results[0].1.contains("license"), "{results:?}");
    assert_eq!(results[1].1, "The first field is the name.\n");
    assert!(results[2].1.contains("active already"), "{results:?}");
}

#[tokio::test]
async fn an_agent_without_skills_is_offered_none_and_cannot_activate_any() {
    for (skills, is_enabled) in [(&["other-*"][..], true), (&["*"][..], false)] {
        let mut stage = Stage::new(skills, &["add_numbers"]).await;
        if is_enabled {
            trust_and_enable(&stage.kernel, "pdf-forms").await;
        }
        stage
            .provider
            .script([calls(&[("c1", "activate_skill", json!({ "name": "pdf-forms" }))]), says("No.")]);

        send(&stage.kernel, &callers::admin(&stage.kernel), "thinker", "/pdf-forms fill this").await;

        let first = stage.provider.next_request().await.json();
        assert_eq!(tool_names(&first), ["add_numbers"]);
        let last = stage.provider.next_request().await.json();
        assert!(last.to_string().contains("there is no skill") && !last.to_string().contains("okapi"), "{last}");
    }
}

#[tokio::test]
async fn the_name_is_reserved_and_means_nothing_outside_of_agents() {
    let stage = Stage::ready(&[]).await;
    let arguments = json!({ "name": "pdf-forms" });
    let operator = callers::operator(&stage.kernel);
    let refused = crate::support::call(&stage.kernel, &operator, "activate_skill", arguments);
    assert!(refused.await.unwrap_err().to_string().contains("there is no tool"));
    let tools = stage.kernel.available_tools(&callers::operator(&stage.kernel), None).unwrap();
    assert!(tools.iter().all(|tool| tool.name.as_str() != "activate_skill"));
}

#[tokio::test]
async fn a_person_activates_a_skill_by_its_name_and_an_agent_of_somebody_else_does_not() {
    let mut stage = Stage::ready(&[]).await;
    let person = callers::admin(&stage.kernel);
    let stranger = openfang_kernel::Caller { door: Door::A2a, ..callers::local(&stage.kernel) };
    for (caller, is_activated) in [(person, true), (stranger, false)] {
        stage.provider.script([says("Done.")]);
        send(&stage.kernel, &caller, "thinker", "/pdf-forms fill this").await;
        let asked = stage.provider.next_request().await.json();
        assert_eq!(asked["messages"].to_string().contains("okapi"), is_activated, "{asked}");
        assert!(asked["messages"].to_string().contains("/pdf-forms fill this"));
    }
    stage.provider.script([says("Done.")]);
    send(&stage.kernel, &callers::admin(&stage.kernel), "thinker", "/unknown-skill or a path").await;
    assert!(!stage.provider.next_request().await.json().to_string().contains("okapi"));
}

#[tokio::test]
async fn a_data_part_activates_a_skill_and_one_that_is_not_there_fails_the_task() {
    let mut stage = Stage::ready(&[]).await;
    let ask = async |name: &str| {
        let part = Part::data(json!({ "skill": name, "input": "fill this" }));
        let message = Message { parts: vec![part], ..stage.kernel.message("x") };
        let caller = callers::local(&stage.kernel);
        match stage.kernel.send_message(&caller, &"thinker".parse().unwrap(), message).await.unwrap() {
            openfang_kernel::Reply::Task(task) => *task,
            other @ openfang_kernel::Reply::Message(_) => panic!("{other:?}"),
        }
    };
    stage.provider.script([says("Done.")]);
    let done = ask("pdf-forms").await;
    assert_eq!(reply_of(&done), "Done.");
    let missing = ask("nothing").await;
    assert_state(&missing, TaskState::Failed);
    assert!(status_text(&missing).contains("there is no skill \"nothing\""), "{}", status_text(&missing));
    assert!(stage.provider.next_request().await.json().to_string().contains("okapi"));
}

#[tokio::test]
async fn a_skill_that_changes_is_not_offered_in_the_next_turn() {
    let mut stage = Stage::ready(&["add_numbers"]).await;
    stage.home.write("skills/pdf-forms/SKILL.md", &PDF.replace("okapi", "evil"));
    stage.kernel.follow_skills().await;
    stage.provider.script([says("Done.")]);

    send(&stage.kernel, &callers::admin(&stage.kernel), "thinker", "/pdf-forms go").await;

    let asked = stage.provider.next_request().await.json();
    assert_eq!(tool_names(&asked), ["add_numbers"]);
    assert!(!asked.to_string().contains("evil"));
}

/// A stage with a skill that was installed from an MCP server and is not trusted.
async fn with_server_skill(probes: Vec<Box<dyn openfang_kernel::Tool>>) -> Stage {
    let stage = Stage::furnished(&["*"], &["probe_*"], probes).await;
    super::servers::install_untrusted(&stage).await;
    stage
}

#[tokio::test]
async fn a_skill_of_a_server_cannot_make_a_run_execute_without_somebody_at_this_machine() {
    let shell = Probe::shell();
    let stage = with_server_skill(vec![shell.boxed()]).await;
    change(&stage.kernel, "borrowed", SkillAction::Enable {}).await.unwrap();
    let script = [
        calls(&[("c1", "activate_skill", json!({ "name": "borrowed" }))]),
        calls(&[("c2", "probe_shell", json!({ "text": "rm" }))]),
        says("Tried."),
    ];
    // The first turn ends with the question.
    stage.provider.script(script[..2].to_vec());
    let operator = callers::operator(&stage.kernel);

    send(&stage.kernel, &operator, "thinker", "Use the skill").await;

    assert_eq!(shell.calls(), 0);
    let waiting = stage.kernel.approvals(&operator).await.unwrap();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert!(waiting[0].at_machine, "{waiting:?}");

    super::fixture::trust(&stage.kernel, "borrowed").await;
    stage.provider.script(script);
    send(&stage.kernel, &operator, "thinker", "Use the skill again").await;
    assert_eq!(shell.calls(), 1);
}

#[tokio::test]
async fn expected_tools_answer_a_question_of_privacy_and_no_question_of_foreign_content_or_execution() {
    for (has_foreign, tool, calls_made) in
        [(false, "probe_send", 1), (true, "probe_send", 0), (false, "probe_other", 0)]
    {
        let private = Probe::source("probe_private", Labels::one(Label::Private, "crm"));
        let (sender, other) = (Probe::send(), Probe::sink("probe_other", openfang_types::taint::SinkKind::SendsOut));
        let probes = vec![private.boxed(), Probe::fetch().boxed(), sender.boxed(), other.boxed()];
        let mut stage = Stage::furnished(&["*"], &["probe_*"], probes).await;
        let text = PDF.replace("add_numbers Bash(ls:*)", "probe_send * probe_*");
        stage.home.write("skills/pdf-forms/SKILL.md", &text);
        trust_and_enable(&stage.kernel, "pdf-forms").await;
        let mut script = vec![calls(&[("c1", "activate_skill", json!({ "name": "pdf-forms" }))])];
        script.push(calls(&[("c2", "probe_private", json!({}))]));
        if has_foreign {
            script.push(calls(&[("c3", "probe_fetch", json!({}))]));
        }
        script.extend([calls(&[("c4", tool, json!({ "text": "secret plan" }))]), says("Done.")]);
        stage.provider.script(script);

        send(&stage.kernel, &callers::operator(&stage.kernel), "thinker", "Send it").await;

        assert_eq!(sender.calls() + other.calls(), calls_made, "{has_foreign} {tool}");
        stage.provider.next_request().await;
    }
}

#[tokio::test]
async fn a_tool_that_a_skill_expects_is_not_granted_by_it() {
    let mut stage = Stage::ready(&[]).await;
    stage.provider.script([
        calls(&[("c1", "activate_skill", json!({ "name": "pdf-forms" }))]),
        calls(&[("c2", "add_numbers", json!({ "a": 1, "b": 2 }))]),
        says("Done."),
    ]);

    send(&stage.kernel, &callers::admin(&stage.kernel), "thinker", "Add").await;

    for _ in 0..2 {
        stage.provider.next_request().await;
    }
    let last = stage.provider.next_request().await.json();
    let results = results_of(last["messages"].as_array().unwrap());
    assert!(results[1].1.contains("add_numbers") && !results[1].1.starts_with('3'), "{results:?}");
}

#[tokio::test]
async fn the_agents_file_of_a_workspace_is_part_of_the_instructions_with_what_it_carries() {
    let shell = Probe::shell();
    let mut stage =
        Stage::furnished(&[], &["probe_*", "file_write"], vec![shell.boxed(), Probe::fetch().boxed()]).await;
    let operator = openfang_kernel::Caller {
        principal: std::sync::Arc::new(Principal::admin(AdminProof::InProcess)),
        ..callers::operator(&stage.kernel)
    };
    stage.provider.script([says("Hello.")]);
    send(&stage.kernel, &operator, "thinker", "Hello").await;
    let without = stage.provider.next_request().await.json();
    assert_eq!(without["messages"][0]["content"], "Be brief.");

    stage.home.write("workspaces/agents/thinker/AGENTS.md", "Answer in French.\n");
    stage.provider.script([calls(&[("c1", "probe_shell", json!({}))]), says("Bonjour.")]);
    send(&stage.kernel, &operator, "thinker", "Hello").await;
    let with = stage.provider.next_request().await.json();
    let system = with["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\n") && system.contains("Answer in French."), "{system}");
    assert_eq!(shell.calls(), 1);
    stage.provider.next_request().await;

    // What the agent writes there after it read the web carries the web into the next run.
    stage.provider.script([
        calls(&[("c1", "probe_fetch", json!({}))]),
        calls(&[("c2", "file_write", json!({ "path": "AGENTS.md", "content": "Run things." }))]),
        says("Written."),
        calls(&[("c3", "probe_shell", json!({}))]),
        says("Tried."),
    ]);
    send(&stage.kernel, &operator, "thinker", "Note this page").await;
    send(&stage.kernel, &operator, "thinker", "Hello").await;
    assert_eq!(shell.calls(), 1);
}
