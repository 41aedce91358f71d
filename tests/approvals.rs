//! Calls that wait for a person: what is approved is made once, and nothing else is.

use std::sync::Arc;

use openfang_kernel::{Caller, Kernel, KernelError, ToolCall, ToolError, Way, WayBack};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::api::{ApprovalView, DecisionKind};
use openfang_types::ids::ApprovalId;
use openfang_types::principal::{AdminProof, Door, Principal};
use serde_json::json;

use crate::support::{artifact_names, artifact_text, call, send};

const SCRIPT: &str = r#"
    [[rules]]
    when = { text = "mail" }
    steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "probe_send", arguments = { text = "hello" } } }]
    [[rules]]
    when = { text = "other" }
    steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "probe_send", arguments = { text = "something else" } } }]
    [[rules]]
    when = { text = "run" }
    steps = [{ tool = { name = "probe_fetch" } }, { tool = { name = "probe_shell", arguments = { text = "x" } } }]
"#;

struct Mailer {
    kernel: Kernel,
    sender: Probe,
    shell: Probe,
    _home: TestHome,
}

impl Mailer {
    fn new() -> Self {
        let home = TestHome::new().with_script("mailer", &["*"], SCRIPT);
        let (sender, shell) = (Probe::send(), Probe::shell());
        let kernel = home
            .boot()
            .tool(Probe::fetch().boxed())
            .tool(sender.boxed())
            .tool(shell.boxed())
            .start()
            .unwrap();
        Self { kernel, sender, shell, _home: home }
    }

    fn operator(&self) -> Caller {
        callers::operator(&self.kernel)
    }

    /// The approval of a call that an obedient agent tried to make.
    async fn asked(&self, text: &str) -> ApprovalView {
        let task = send(&self.kernel, &self.operator(), "mailer", text).await;
        assert!(artifact_names(&task).last().is_some_and(|name| name.ends_with("-error")), "{task:?}");
        self.kernel.approvals(&self.operator()).await.unwrap().swap_remove(0)
    }

    async fn decide(
        &self,
        caller: &Caller,
        shown: &ApprovalView,
        kind: DecisionKind,
    ) -> Result<ApprovalView, KernelError> {
        self.kernel.decide_approval(caller, shown.id, (kind, &shown.digest)).await
    }

    async fn sends(&self, text: &str) -> bool {
        let task = send(&self.kernel, &self.operator(), "mailer", text).await;
        artifact_names(&task).last() == Some(&"probe_send-result")
    }
}

#[track_caller]
fn assert_refused(outcome: Result<ApprovalView, KernelError>, reason: &str) {
    match outcome {
        Ok(decided) => panic!("it was decided: {decided:?}"),
        Err(error) => assert_eq!(error.reason(), reason, "{error}"),
    }
}

#[tokio::test]
async fn an_approved_call_is_made_once_and_no_other_call_is() {
    let mailer = Mailer::new();
    let asked = mailer.asked("mail").await;
    assert_eq!((asked.state.as_str(), asked.tool.as_str()), ("pending", "probe_send"));
    assert_eq!(asked.arguments, json!({"text": "hello"}));
    assert!(asked.reason.contains("external-network (from probe_fetch)"), "{}", asked.reason);
    assert!(!mailer.sends("mail").await, "nobody decided");
    assert_eq!(mailer.kernel.approvals(&mailer.operator()).await.unwrap().len(), 1, "it is asked for once");

    mailer.decide(&mailer.operator(), &asked, DecisionKind::Approve).await.unwrap();

    assert!(!mailer.sends("other").await, "other arguments are another call");
    assert!(mailer.sends("mail").await);
    assert!(!mailer.sends("mail").await, "it is used up");
    assert_eq!(mailer.sender.calls(), 1);
    let state = mailer.kernel.approval(&mailer.operator(), asked.id).await.unwrap().state;
    assert_eq!(state, "used");
}

#[tokio::test]
async fn a_denied_call_is_not_made_and_a_decision_is_final() {
    let mailer = Mailer::new();
    let asked = mailer.asked("mail").await;

    mailer.decide(&mailer.operator(), &asked, DecisionKind::Deny).await.unwrap();

    assert!(!mailer.sends("mail").await);
    assert_refused(mailer.decide(&mailer.operator(), &asked, DecisionKind::Approve).await, "not_waiting");
    assert_eq!(mailer.sender.calls(), 0);
}

#[tokio::test]
async fn a_decision_names_the_call_that_was_shown() {
    let mailer = Mailer::new();
    let (first, second) = (mailer.asked("mail").await, mailer.asked("other").await);
    let swapped = ApprovalView { digest: second.digest.clone(), ..first.clone() };

    assert_refused(mailer.decide(&mailer.operator(), &swapped, DecisionKind::Approve).await, "other_call");

    let unknown: ApprovalId = "00000000-0000-4000-8000-000000000000".parse().unwrap();
    let unknown = ApprovalView { id: unknown, ..first };
    assert_refused(mailer.decide(&mailer.operator(), &unknown, DecisionKind::Approve).await, "unknown_approval");
}

#[tokio::test]
async fn only_persons_decide_and_only_on_their_own_calls() {
    let mailer = Mailer::new();
    let asked = mailer.asked("mail").await;
    let by = |principal: Principal, door| Caller { principal: principal.into(), door, ..mailer.operator() };
    let grants = || openfang_types::principal::Grants::parse(["*"]).unwrap();
    let ada = || Principal::user("ada".parse().unwrap(), grants());

    let stranger = by(ada(), Door::Rest);
    assert!(mailer.kernel.approvals(&stranger).await.unwrap().is_empty());
    assert_refused(mailer.decide(&stranger, &asked, DecisionKind::Approve).await, "unknown_approval");
    let local = by(Principal::local(), Door::Rest);
    assert_refused(mailer.decide(&local, &asked, DecisionKind::Approve).await, "not_a_person");
    let agent = by(Principal::admin(AdminProof::ApiKey), Door::A2a);
    assert_refused(mailer.decide(&agent, &asked, DecisionKind::Approve).await, "not_a_person");

    let admin = by(Principal::admin(AdminProof::ApiKey), Door::Rest);
    mailer.decide(&admin, &asked, DecisionKind::Approve).await.unwrap();
    assert!(mailer.sends("mail").await);
}

#[tokio::test]
async fn a_call_that_executes_is_approved_at_this_machine_only() {
    let mailer = Mailer::new();
    let asked = mailer.asked("run").await;
    assert!(asked.at_machine);
    let far = Caller { principal: Principal::admin(AdminProof::ApiKey).into(), door: Door::Rest, ..mailer.operator() };

    assert_refused(mailer.decide(&far, &asked, DecisionKind::Approve).await, "at_this_machine");
    assert_eq!(mailer.shell.calls(), 0);

    mailer.decide(&mailer.operator(), &asked, DecisionKind::Approve).await.unwrap();
    let task = send(&mailer.kernel, &mailer.operator(), "mailer", "run").await;
    assert_eq!(artifact_names(&task), ["probe_fetch-result", "probe_shell-result"]);
    assert_eq!(mailer.shell.calls(), 1);
}

#[tokio::test]
async fn of_calls_at_once_one_uses_the_approval() {
    let mailer = Mailer::new();
    let asked = mailer.asked("mail").await;
    mailer.decide(&mailer.operator(), &asked, DecisionKind::Approve).await.unwrap();

    let operator = mailer.operator();
    let sends = (0..8).map(|_| send(&mailer.kernel, &operator, "mailer", "mail"));
    futures_util::future::join_all(sends).await;

    assert_eq!(mailer.sender.calls(), 1);
}

#[tokio::test]
async fn an_approval_does_not_replace_a_right() {
    let mailer = Mailer::new();
    let asked = mailer.asked("mail").await;
    mailer.decide(&mailer.operator(), &asked, DecisionKind::Approve).await.unwrap();
    let grants = openfang_types::principal::Grants::parse(["agent:mailer", "probe_fetch"]).unwrap();
    let ada = Principal::user(asked.owner.clone(), grants);
    let without = Caller { principal: ada.into(), door: Door::Rest, ..mailer.operator() };

    let task = send(&mailer.kernel, &without, "mailer", "mail").await;

    assert!(artifact_text(&task, "probe_send-error").contains("there is no tool"), "{task:?}");
    assert_eq!(mailer.sender.calls(), 0);
}

#[tokio::test]
async fn a_person_who_calls_a_tool_is_not_asked_and_an_agent_is() {
    let mailer = Mailer::new();
    assert!(call(&mailer.kernel, &mailer.operator(), "probe_send", json!({})).await.is_ok());
    assert!(
        call(&mailer.kernel, &callers::local(&mailer.kernel), "probe_send", json!({}))
            .await
            .is_ok()
    );

    let label = Some(openfang_types::taint::Label::UntrustedAgent);
    let grants = openfang_types::principal::Grants::parse(["*"]).unwrap();
    let key = Principal::user("ada".parse().unwrap(), grants).bringing(label);
    let agent = Caller { principal: key.into(), door: Door::Mcp, ..mailer.operator() };
    let said = call(&mailer.kernel, &agent, "probe_send", json!({})).await.unwrap_err();

    let KernelError::Tool(ToolError::NeedsApproval(needed)) = said else { panic!("{said}") };
    let shown = mailer.kernel.approval(&mailer.operator(), needed.id).await.unwrap();
    mailer.decide(&mailer.operator(), &shown, DecisionKind::Approve).await.unwrap();
    assert!(call(&mailer.kernel, &agent, "probe_send", json!({})).await.is_ok());
    assert!(call(&mailer.kernel, &agent, "probe_send", json!({})).await.is_err());
    assert_eq!(mailer.sender.calls(), 3);
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_does_not_replace_an_approval() {
    let mailer = Mailer::new();
    let label = Some(openfang_types::taint::Label::UntrustedAgent);
    let grants = openfang_types::principal::Grants::parse(["*"]).unwrap();
    let key = Principal::user("ada".parse().unwrap(), grants).bringing(label);
    let agent = Caller { principal: key.into(), door: Door::Mcp, ..mailer.operator() };
    let claims = WayBack { resumed: Some(Arc::default()), ..WayBack::default() };
    let way = Way { back: claims, ..Way::default() };
    let send = ToolCall { name: "probe_send".parse().unwrap(), arguments: json!({}).into() };

    let said = mailer.kernel.call_tool(&agent, send, way).await.unwrap_err();

    assert_eq!(said.reason(), "needs_approval", "{said}");
    assert_eq!(mailer.sender.calls(), 0);
}

#[tokio::test]
async fn a_call_that_is_too_long_to_be_shown_cannot_be_approved() {
    let mailer = Mailer::new();
    let label = Some(openfang_types::taint::Label::UntrustedAgent);
    let grants = openfang_types::principal::Grants::parse(["*"]).unwrap();
    let key = Principal::user("ada".parse().unwrap(), grants).bringing(label);
    let agent = Caller { principal: key.into(), door: Door::Mcp, ..mailer.operator() };
    let long = json!({"agent_url": "https://a.example.org", "message": "x".repeat(20_000)});

    let said = call(&mailer.kernel, &agent, "a2a_send", long).await.unwrap_err();

    assert_eq!(said.reason(), "cannot_be_shown", "{said}");
    assert!(mailer.kernel.approvals(&mailer.operator()).await.unwrap().is_empty());
}

/// Keys of ada, by what narrows them.
fn key_of_ada(mailer: &Mailer, label: Option<openfang_types::taint::Label>, key: &str) -> Caller {
    let grants = openfang_types::principal::Grants::parse(["*", "agent:mailer", "agent:mailer/*"]).unwrap();
    let credential = openfang_types::principal::Credential::Key(key.parse().unwrap());
    let principal = Principal::user("ada".parse().unwrap(), grants).bringing(label).shown_by(credential);
    Caller { principal: principal.into(), door: Door::Mcp, ..mailer.operator() }
}

/// A call that waits for a person.
async fn waits(mailer: &Mailer, caller: &Caller, text: &str) -> Result<ApprovalId, KernelError> {
    match call(&mailer.kernel, caller, "probe_send", json!({ "text": text })).await.unwrap_err() {
        KernelError::Tool(ToolError::NeedsApproval(needed)) => Ok(needed.id),
        error => Err(error),
    }
}

#[tokio::test]
async fn a_narrowed_key_neither_sees_nor_decides_nor_uses_what_was_asked_by_another() {
    use openfang_types::taint::Label;
    let mailer = Mailer::new();
    let untrusted = key_of_ada(&mailer, Some(Label::UntrustedAgent), "000000000001");
    let other = key_of_ada(&mailer, Some(Label::McpServer), "000000000002");
    let labelled = key_of_ada(&mailer, Some(Label::User), "000000000003");
    let whole = key_of_ada(&mailer, None, "000000000004");
    let id = waits(&mailer, &untrusted, "my account").await.unwrap();

    for narrowed in [&other, &labelled] {
        assert!(mailer.kernel.approvals(narrowed).await.unwrap().is_empty());
        let unknown = mailer.kernel.approval(narrowed, id).await.unwrap_err();
        assert_eq!(unknown.reason(), "unknown_approval", "{unknown}");
        let shown = mailer.kernel.approval(&whole, id).await.unwrap();
        assert_refused(mailer.decide(narrowed, &shown, DecisionKind::Approve).await, "unknown_approval");
    }
    let own = mailer.kernel.approvals(&untrusted).await.unwrap();
    assert_eq!(own.iter().map(|one| one.id).collect::<Vec<_>>(), [id], "whoever asked sees how it stands");

    let shown = mailer.kernel.approval(&whole, id).await.unwrap();
    mailer.decide(&whole, &shown, DecisionKind::Approve).await.unwrap();
    assert!(waits(&mailer, &other, "my account").await.is_ok(), "the call of another key is another call");
    assert_eq!(mailer.sender.calls(), 0);
    assert!(
        call(&mailer.kernel, &untrusted, "probe_send", json!({ "text": "my account" }))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn whoever_may_not_use_a_tool_does_not_approve_its_calls() {
    let mailer = Mailer::new();
    let untrusted = key_of_ada(&mailer, Some(openfang_types::taint::Label::UntrustedAgent), "000000000001");
    let id = waits(&mailer, &untrusted, "my account").await.unwrap();
    let grants = openfang_types::principal::Grants::parse(["get_*"]).unwrap();
    let principal = Principal::user("ada".parse().unwrap(), grants);
    let without = Caller { principal: principal.into(), door: Door::Rest, ..mailer.operator() };
    let shown = mailer.kernel.approval(&mailer.operator(), id).await.unwrap();

    assert_refused(mailer.decide(&without, &shown, DecisionKind::Approve).await, "no_right_to_the_tool");
    mailer.decide(&without, &shown, DecisionKind::Deny).await.unwrap();
}

#[tokio::test]
async fn untrusted_keys_leave_room_for_the_calls_of_others_and_of_the_person() {
    use openfang_types::limits::{APPROVALS_FOR_PERSONS, APPROVALS_PER_ASKER, APPROVALS_PER_OWNER};
    let mailer = Mailer::new();
    let label = Some(openfang_types::taint::Label::UntrustedAgent);
    let mut waiting = 0;
    for key in 1..=7 {
        let caller = key_of_ada(&mailer, label, &format!("00000000000{key}"));
        for number in 0..60 {
            match waits(&mailer, &caller, &format!("number {number} of {key}")).await {
                Ok(_) => waiting += 1,
                Err(error) => assert_eq!(error.reason(), "too_many_waiting", "{error}"),
            }
        }
        let expected = APPROVALS_PER_OWNER - APPROVALS_FOR_PERSONS;
        assert!(waiting <= expected && waiting % APPROVALS_PER_ASKER == 0, "{waiting} wait");
    }
    assert_eq!(waiting, APPROVALS_PER_OWNER - APPROVALS_FOR_PERSONS);

    let person = callers::user(&mailer.kernel, "ada", &["*", "agent:mailer", "agent:mailer/*"]);
    let task = send(&mailer.kernel, &person, "mailer", "mail").await;

    let said = artifact_text(&task, "probe_send-error");
    assert!(said.contains("approv") && !said.contains("too many"), "{said}");
    assert_eq!(mailer.kernel.approvals(&mailer.operator()).await.unwrap().len(), waiting + 1);
}
