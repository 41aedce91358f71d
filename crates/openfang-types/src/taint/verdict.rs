//! The policy: whether a call is made, waits for a person, or is refused. A pure function of where the values of the
//! call came from and where the call leads.
//!
//! Two questions are asked of every call. *Integrity*: could somebody else have chosen this call? That depends on what
//! was in the context when the call was decided on. *Confidentiality*: could data end up where somebody else can read
//! it? That depends on what is in the context and in the arguments, and on who chose the destination. Of all rules that
//! fit, the strictest counts.

use super::{Label, Labels, SinkKind};

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The call is made.
    Allow,
    /// A person decides on it.
    Ask(AskReason),
    /// It is not made, and nobody can approve it.
    Refuse(Label),
}

/// Why a person has to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskReason {
    /// Foreign content may have led to a call that executes. Only somebody at this machine can approve it.
    ForeignExecutes(Label),
    /// Personal or private data would leave its source.
    Private(Label),
    /// Data that stays with this house would go to a place that foreign content may have chosen.
    Leaves(Label),
    /// Foreign content may have led to a call with consequences.
    ForeignActs(Label),
}

impl AskReason {
    /// The label that decided.
    pub const fn label(self) -> Label {
        match self {
            Self::ForeignExecutes(label) | Self::Private(label) | Self::Leaves(label) | Self::ForeignActs(label) => {
                label
            }
        }
    }

    /// Whether only somebody at this machine can approve the call.
    pub const fn needs_this_machine(self) -> bool {
        match self {
            Self::ForeignExecutes(_) => true,
            Self::Private(_) | Self::Leaves(_) | Self::ForeignActs(_) => false,
        }
    }

    /// The reason in words, after the name of a tool that does this.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ForeignExecutes(_) => "content from outside may have led to a call that executes",
            Self::Private(_) => "private data would leave its source",
            Self::Leaves(_) => "internal data would go to a place that content from outside may have chosen",
            Self::ForeignActs(_) => "content from outside may have led to a call with consequences",
        }
    }
}

/// A call, as far as the policy looks at it.
#[derive(Debug, Clone, Copy)]
pub struct JudgedCall<'a> {
    /// What was in the context when the call was decided on.
    pub decided_with: &'a Labels,
    /// What the context and the arguments carry.
    pub carried: &'a Labels,
    /// What the tool does with its arguments.
    pub sink: SinkKind,
    /// The source whose own data may go there, as labels name it: the server or agent that the tool belongs to.
    pub destination: Option<&'a str>,
    /// Whether the tool may destroy something.
    pub is_destructive: bool,
    /// Who worded the arguments.
    pub worded_by: WordedBy,
    /// Who chose the host that the call leads to.
    pub host: ChosenHost,
}

/// Who worded the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordedBy {
    /// Every value of the arguments is, word for word, in what the user said.
    User,
    /// Anybody who wrote something that is in the context.
    Anybody,
}

/// Who chose the host that a call leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenHost {
    /// The operator in the config, or the user in the conversation.
    Known,
    /// Whoever decided on the call.
    Unknown,
}

/// The policy as a pure function.
pub fn verdict(call: &JudgedCall<'_>) -> Verdict {
    if call.sink.takes_out() && call.carried.contains(Label::Secret) {
        return Verdict::Refuse(Label::Secret);
    }
    let foreign = call.decided_with.iter().find(|label| label.is_foreign());
    let reason = executes(call, foreign)
        .or_else(|| private(call))
        .or_else(|| leaves(call, foreign))
        .or_else(|| acts(call, foreign));
    reason.map_or(Verdict::Allow, Verdict::Ask)
}

fn executes(call: &JudgedCall<'_>, foreign: Option<Label>) -> Option<AskReason> {
    foreign.filter(|_| call.sink == SinkKind::Executes).map(AskReason::ForeignExecutes)
}

/// Personal data, and data of a private source, to anywhere but its source.
fn private(call: &JudgedCall<'_>) -> Option<AskReason> {
    if !call.sink.leaves_the_house() {
        return None;
    }
    let comes_from_there = |label: Label| {
        let sources = call.carried.sources(label);
        sources
            .is_some_and(|sources| !sources.are_many() && sources.iter().all(|source| Some(source) == call.destination))
    };
    [Label::Pii, Label::Private]
        .into_iter()
        .find(|label| call.carried.contains(*label) && !comes_from_there(*label))
        .map(AskReason::Private)
}

/// Data that is not for everybody, to a host that foreign content may have chosen.
fn leaves(call: &JudgedCall<'_>, foreign: Option<Label>) -> Option<AskReason> {
    foreign?;
    let chooses = match call.sink {
        SinkKind::Fetches => call.host == ChosenHost::Unknown,
        SinkKind::SendsOut => !is_lifted(call),
        SinkKind::Executes | SinkKind::Queries | SinkKind::Delegates | SinkKind::Writes | SinkKind::Reads => false,
    };
    let held = |label: &Label| call.carried.contains(*label);
    [Label::Workspace, Label::Internal]
        .into_iter()
        .find(held)
        .filter(|_| chooses)
        .map(AskReason::Leaves)
}

fn acts(call: &JudgedCall<'_>, foreign: Option<Label>) -> Option<AskReason> {
    foreign
        .filter(|_| call.sink == SinkKind::SendsOut && !is_lifted(call))
        .map(AskReason::ForeignActs)
}

/// The user asked for exactly this call, and it destroys nothing.
fn is_lifted(call: &JudgedCall<'_>) -> bool {
    call.worded_by == WordedBy::User && !call.is_destructive
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
