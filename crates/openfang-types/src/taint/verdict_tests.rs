//! The policy, row by row: every label at every sink, and the combinations that matter.

use super::super::Label::{
    ExternalNetwork, Internal, McpServer, Operator, Pii, Private, Secret, UntrustedAgent, User, Workspace,
};
use super::super::SinkKind::{Delegates, Executes, Fetches, Queries, Reads, SendsOut, Writes};
use super::AskReason::{ForeignActs, ForeignExecutes, Leaves};
use super::*;

const FOREIGN: [Label; 3] = [UntrustedAgent, ExternalNetwork, McpServer];

fn labels(held: &[Label]) -> Labels {
    let mut labels = Labels::none();
    for label in held {
        labels.add(*label, "the MCP server a");
    }
    labels
}

const fn call<'a>(labels: &'a Labels, sink: SinkKind) -> JudgedCall<'a> {
    JudgedCall {
        decided_with: labels,
        carried: labels,
        sink,
        destination: None,
        is_destructive: false,
        worded_by: WordedBy::Anybody,
        host: ChosenHost::Unknown,
    }
}

fn judged(held: &[Label], sink: SinkKind) -> Verdict {
    verdict(&call(&labels(held), sink))
}

#[test]
fn every_label_alone_is_judged_at_every_sink() {
    for sink in SinkKind::ALL {
        for label in Label::ALL {
            let expected = match (sink, label) {
                (Executes | SendsOut | Fetches | Queries | Delegates, Secret) => Verdict::Refuse(Secret),
                (Executes, UntrustedAgent | ExternalNetwork | McpServer) => Verdict::Ask(ForeignExecutes(label)),
                (SendsOut, UntrustedAgent | ExternalNetwork | McpServer) => Verdict::Ask(ForeignActs(label)),
                (Executes | SendsOut | Fetches | Queries, Pii | Private) => Verdict::Ask(AskReason::Private(label)),
                _ => Verdict::Allow,
            };
            assert_eq!(judged(&[label], sink), expected, "{label} at {sink}");
        }
    }
}

#[test]
fn every_pair_of_labels_is_judged_as_strictly_as_its_stricter_half() {
    let rank = |verdict: Verdict| match verdict {
        Verdict::Allow => 0,
        Verdict::Ask(reason) => 1 + u8::from(reason.needs_this_machine()),
        Verdict::Refuse(_) => 3,
    };
    for sink in SinkKind::ALL {
        for one in Label::ALL {
            for other in Label::ALL {
                let stricter = rank(judged(&[one], sink)).max(rank(judged(&[other], sink)));
                assert!(rank(judged(&[one, other], sink)) >= stricter, "{one} and {other} at {sink}");
            }
        }
    }
}

#[test]
fn data_of_this_house_leaves_for_a_strange_host_only_while_nothing_foreign_is_in_the_context() {
    for own in [Workspace, Internal] {
        for foreign in FOREIGN {
            for sink in [SendsOut, Fetches] {
                assert_eq!(judged(&[own, foreign], sink), Verdict::Ask(Leaves(own)), "{own}, {foreign}, {sink}");
            }
            let both = labels(&[own, foreign]);
            let known = JudgedCall { host: ChosenHost::Known, ..call(&both, Fetches) };
            assert_eq!(verdict(&known), Verdict::Allow, "the operator or the user chose the host");
            assert_eq!(judged(&[own, foreign], Queries), Verdict::Allow, "the operator chose the server");
        }
        for sink in [SendsOut, Fetches, Executes] {
            assert_eq!(judged(&[own, User, Operator], sink), Verdict::Allow, "{sink}");
        }
    }
}

#[test]
fn what_came_from_the_web_can_be_searched_and_fetched_further_without_a_question() {
    for sink in [Fetches, Queries, Reads, Writes, Delegates] {
        assert_eq!(judged(&[User, ExternalNetwork], sink), Verdict::Allow, "{sink}");
    }
}

#[test]
fn private_data_returns_to_its_source_and_goes_nowhere_else_unasked() {
    let mut held = labels(&[Private]);
    let home =
        |labels: &Labels, destination| verdict(&JudgedCall { destination: Some(destination), ..call(labels, Queries) });
    assert_eq!(home(&held, "the MCP server a"), Verdict::Allow);
    assert_eq!(home(&held, "the MCP server b"), Verdict::Ask(AskReason::Private(Private)));

    held.add(Private, "the MCP server b");
    assert_eq!(home(&held, "the MCP server a"), Verdict::Ask(AskReason::Private(Private)), "it is of two sources");

    let mut many = Labels::none();
    (0..40).for_each(|number| many.add(Private, format!("the MCP server {number}")));
    assert_eq!(home(&many, "the MCP server 0"), Verdict::Ask(AskReason::Private(Private)));
}

#[test]
fn a_call_that_the_user_worded_is_not_asked_unless_it_destroys_or_executes() {
    for foreign in FOREIGN {
        let held = labels(&[User, foreign, Internal]);
        let worded = JudgedCall { worded_by: WordedBy::User, ..call(&held, SendsOut) };
        assert_eq!(verdict(&worded), Verdict::Allow);

        let destroys = JudgedCall { is_destructive: true, ..worded };
        assert!(matches!(verdict(&destroys), Verdict::Ask(_)));
        let executes = JudgedCall { sink: Executes, ..worded };
        assert_eq!(verdict(&executes), Verdict::Ask(ForeignExecutes(foreign)));
        let personal = held.clone().joined(&labels(&[Pii]));
        let personal = JudgedCall { carried: &personal, ..worded };
        assert_eq!(verdict(&personal), Verdict::Ask(AskReason::Private(Pii)));
    }
}

#[test]
fn what_entered_after_the_decision_did_not_lead_to_it() {
    let (clean, foreign) = (labels(&[User]), labels(&[User, ExternalNetwork]));

    assert_eq!(verdict(&JudgedCall { carried: &foreign, ..call(&clean, SendsOut) }), Verdict::Allow);
    assert_eq!(verdict(&JudgedCall { carried: &foreign, ..call(&clean, Executes) }), Verdict::Allow);
}

#[test]
fn everything_at_once_is_still_allowed_where_values_are_kept_or_read() {
    assert_eq!(judged(&Label::ALL, Writes), Verdict::Allow);
    assert_eq!(judged(&Label::ALL, Reads), Verdict::Allow);
    for sink in [Executes, SendsOut, Fetches, Queries, Delegates] {
        assert_eq!(judged(&Label::ALL, sink), Verdict::Refuse(Secret), "{sink}");
        assert_eq!(verdict(&call(&Labels::none(), sink)), Verdict::Allow, "{sink}");
    }
}
