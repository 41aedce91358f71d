//! The default policy, row by row: every label at every sink, alone and in the pairs that matter.

use super::Label::{ExternalNetwork, McpServer, Operator, Pii, Secret, UntrustedAgent, User, Workspace};
use super::SinkKind::{Delegates, Executes, Reads, SendsOut, Writes};
use super::*;

fn labels(held: &[Label]) -> Labels {
    let mut labels = Labels::none();
    for label in held {
        labels.add(*label, "test");
    }
    labels
}

#[test]
fn every_label_alone_is_judged_at_every_sink() {
    let refused = [
        (Executes, UntrustedAgent),
        (Executes, ExternalNetwork),
        (Executes, McpServer),
        (SendsOut, Secret),
        (SendsOut, Pii),
        (Delegates, Secret),
    ];
    for sink in SinkKind::ALL {
        for label in Label::ALL {
            let expected = refused.contains(&(sink, label)).then_some(label);
            assert_eq!(forbidding_label(&labels(&[label]), sink), expected, "{label} at {sink}");
        }
    }
}

#[test]
fn workspace_text_leaves_only_while_nothing_foreign_is_in_the_context() {
    for foreign in [UntrustedAgent, ExternalNetwork, McpServer] {
        assert_eq!(forbidding_label(&labels(&[Workspace, foreign]), SendsOut), Some(Workspace), "{foreign}");
    }
    for own in [Operator, User] {
        assert_eq!(forbidding_label(&labels(&[Workspace, own]), SendsOut), None, "{own}");
    }
}

#[test]
fn everything_at_once_is_still_allowed_where_values_are_kept_or_read() {
    let all = labels(&Label::ALL);

    assert_eq!(forbidding_label(&all, Writes), None);
    assert_eq!(forbidding_label(&all, Reads), None);
    for sink in [Executes, SendsOut, Delegates] {
        assert!(forbidding_label(&all, sink).is_some(), "{sink}");
    }
}

#[test]
fn no_labels_are_refused_nowhere() {
    for sink in SinkKind::ALL {
        assert_eq!(forbidding_label(&Labels::none(), sink), None);
    }
}
