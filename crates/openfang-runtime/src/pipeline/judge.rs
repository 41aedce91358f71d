//! The policy on a call: what is known of it is put together here, and `openfang_types::taint::verdict` decides.
//!
//! A call is judged with what its context carried when somebody decided on it. That is the model, with
//! [`CallContext::decided_with`]; without one it is whatever is in the context now. A person who calls a tool directly
//! decided with nothing but their own thoughts. A caller who names a tool to an agent without a model decided so too, as
//! long as nothing else has come into the context; for a model, the words of an untrusted caller are content from outside.

use std::borrow::Cow;

use openfang_types::call::Arguments;
use openfang_types::principal::{Door, PrincipalKind};
use openfang_types::taint::{
    A2A_CALLER, AskReason, ChosenHost, JudgedCall, LOCAL_CALLER, Label, Labels, SinkKind, Sources, Verdict, WordedBy,
    verdict,
};
use openfang_types::tool::{ToolKind, ToolTraits};

use super::taint::found_in;
use super::words::{is_of_known_host, is_user_worded};
use super::{Callee, Manner, Sensitive, ToolError};
use crate::context::CallContext;

/// A call that a person must decide on.
pub(super) struct Question {
    pub(super) reason: QuestionReason,
    /// What the call does with its arguments.
    pub(super) sink: SinkKind,
    /// What led to the question.
    pub(super) labels: Labels,
}

/// Why a person must decide.
pub(super) enum QuestionReason {
    /// The policy says so.
    Policy(AskReason),
    /// The tool says so, in these words.
    Tool(String),
}

impl Question {
    /// A question that a tool has.
    pub(super) fn of_tool(cx: &CallContext, sink: SinkKind, why: String) -> Self {
        let labels = cx.decided_with.as_deref().cloned().unwrap_or_else(|| cx.context_labels());
        Self { reason: QuestionReason::Tool(why), sink, labels }
    }
}

/// Refuses a call, or says that a person must decide on it.
pub(super) fn judge<C: Callee>(
    sensitive: &Sensitive,
    cx: &CallContext,
    (callee, manner): (&C, Manner),
    arguments: &Arguments<'_>,
) -> Result<Option<Question>, ToolError> {
    let traits = callee.traits();
    let found = found_in(sensitive, &traits.name, arguments)?;
    let sink = callee.sink(arguments);
    let decided_with = decided_with(cx, (traits, sink), manner);
    let carried = carried(cx, traits, found);
    match verdict_of(cx, (callee, sink, arguments), (&decided_with, &carried)) {
        Verdict::Allow => Ok(None),
        // A call of a run that goes on with an answer was allowed when it began. Outside of runs, whoever calls says that a call
        // goes on.
        Verdict::Ask(_) if cx.run.is_some() && cx.back.resumed.is_some() => Ok(None),
        // Whoever was asked about the tool of an external agent was asked about the message too.
        Verdict::Ask(_) if cx.granted.as_ref() == Some(&traits.name) => Ok(None),
        Verdict::Ask(reason) if is_expected(cx, (traits, sink), (reason, &decided_with)) => Ok(None),
        Verdict::Ask(reason) => {
            let reason = QuestionReason::Policy(reason);
            Ok(Some(Question { reason, sink, labels: carried.joined(&decided_with) }))
        }
        Verdict::Refuse(label) => Err(ToolError::Tainted {
            tool: traits.name.clone(),
            sink,
            label,
            sources: carried.sources(label).map(ToString::to_string).unwrap_or_default(),
        }),
    }
}

/// Whether the operator has answered the question by trusting an active skill that names the tool. What is asked because of
/// content from outside, or about a call that executes, is never answered so.
fn is_expected(
    cx: &CallContext,
    (traits, sink): (&ToolTraits, SinkKind),
    (reason, with): (AskReason, &Labels),
) -> bool {
    let is_about_privacy = match reason {
        AskReason::Private(_) => true,
        AskReason::ForeignExecutes(_) | AskReason::Leaves(_) | AskReason::ForeignActs(_) => false,
    };
    is_about_privacy
        && sink != SinkKind::Executes
        && !with.iter().any(Label::is_foreign)
        && cx.run.as_ref().is_some_and(|run| run.expects(&traits.name))
}

/// What could have led to the call.
fn decided_with<'a>(cx: &'a CallContext, (traits, sink): (&ToolTraits, SinkKind), manner: Manner) -> Cow<'a, Labels> {
    if let Some(labels) = &cx.decided_with {
        return Cow::Borrowed(labels);
    }
    // A message for an external agent is its caller's own, unless another agent wrote it.
    let is_message = traits.kind == ToolKind::ExternalAgent && manner == Manner::HandedThrough;
    let is_direct = cx.run.is_none() && cx.agent.is_none();
    let is_local = matches!(cx.principal.standing(), PrincipalKind::Local) && cx.door != Door::A2a;
    if (is_message && cx.door != Door::Agent) || (is_direct && is_local) {
        return Cow::Owned(Labels::none());
    }
    if cx.run.is_none() {
        return Cow::Borrowed(&cx.labels);
    }
    let labels = cx.context_labels();
    if sink != SinkKind::Executes && cx.door != Door::Agent && is_of_the_caller_alone(&labels) {
        return Cow::Owned(Labels::none());
    }
    Cow::Owned(labels)
}

/// Whether nothing but the words of the caller is in a context. A call of an agent without a model is then the caller's own,
/// and the caller's rights say whether it is made.
fn is_of_the_caller_alone(labels: &Labels) -> bool {
    let is_of_a_caller = |label| matches!(label, Label::Operator | Label::User | Label::UntrustedAgent);
    let is_the_caller = |sources: &Sources| {
        let mut sources_left = sources.iter();
        !sources.are_many() && sources_left.all(|source| matches!(source, A2A_CALLER | LOCAL_CALLER))
    };
    labels.iter().all(is_of_a_caller) && labels.sources(Label::UntrustedAgent).is_none_or(is_the_caller)
}

/// What the context and the arguments carry. The run learns of the arguments.
fn carried(cx: &CallContext, traits: &ToolTraits, found: Labels) -> Labels {
    let Some(run) = &cx.run else {
        if found.contains(Label::Secret) {
            tracing::warn!(tool = %traits.name, trace = %cx.trace, "the arguments of a direct call look like a secret");
        }
        let mut labels = cx.labels.clone();
        if let Some(personal) = found.sources(Label::Pii) {
            labels.add_all(Label::Pii, personal);
        }
        return labels;
    };
    run.enters(&found);
    match &cx.decided_with {
        Some(labels) => Labels::clone(labels).joined(&found),
        None => cx.context_labels().joined(&found),
    }
}

fn verdict_of<C: Callee>(
    cx: &CallContext,
    (callee, sink, arguments): (&C, SinkKind, &Arguments<'_>),
    (decided_with, carried): (&Labels, &Labels),
) -> Verdict {
    let traits = callee.traits();
    // Looked at only where it can matter: most calls are allowed without.
    let is_foreign = decided_with.iter().any(Label::is_foreign);
    let destination = carried.contains(Label::Private).then(|| traits.origin.to_string());
    let is_destructive = traits.annotations.destructive_hint;
    let worded_by = match sink {
        SinkKind::SendsOut if is_foreign && !is_destructive && is_user_worded(cx, callee, arguments) => WordedBy::User,
        SinkKind::SendsOut
        | SinkKind::Executes
        | SinkKind::Fetches
        | SinkKind::Queries
        | SinkKind::Delegates
        | SinkKind::Writes
        | SinkKind::Reads => WordedBy::Anybody,
    };
    let host = match sink {
        SinkKind::Fetches if is_foreign && is_of_known_host(cx, callee.target(arguments)) => ChosenHost::Known,
        SinkKind::Fetches
        | SinkKind::Executes
        | SinkKind::SendsOut
        | SinkKind::Queries
        | SinkKind::Delegates
        | SinkKind::Writes
        | SinkKind::Reads => ChosenHost::Unknown,
    };
    verdict(&JudgedCall {
        decided_with,
        carried,
        sink,
        destination: destination.as_deref(),
        is_destructive,
        worded_by,
        host,
    })
}

/// Whether a tool that fetches may go on to whatever host a server names. If not, it must not follow redirects: whoever
/// redirects chooses the host, and can see to it that the URL carries data.
pub fn may_follow_redirects(cx: &CallContext) -> bool {
    let labels = match (&cx.decided_with, &cx.run) {
        (Some(labels), _) => Labels::clone(labels),
        (None, Some(_)) => cx.context_labels(),
        (None, None) => return true,
    };
    let call = JudgedCall {
        decided_with: &labels,
        carried: &labels,
        sink: SinkKind::Fetches,
        destination: None,
        is_destructive: false,
        worded_by: WordedBy::Anybody,
        host: ChosenHost::Unknown,
    };
    matches!(verdict(&call), Verdict::Allow)
}
