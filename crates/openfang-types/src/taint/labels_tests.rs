//! Sources of labels: how they join, how they are shown, and how they are stored.

use super::super::Label::{ExternalNetwork, McpServer, Operator, Pii, Secret, User};
use super::*;

fn from(sources: impl IntoIterator<Item = usize>) -> Labels {
    let mut labels = Labels::none();
    for source in sources {
        labels.add(McpServer, format!("server {source:03}"));
    }
    labels
}

fn shown(labels: &Labels) -> String {
    labels.sources(McpServer).map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_join_keeps_every_label_and_every_source() {
    let mut context = Labels::one(User, "the rest door");
    context.join(&Labels::one(ExternalNetwork, "web_fetch"));
    context.join(&Labels::one(ExternalNetwork, "browser_navigate"));
    context.join(&Labels::one(ExternalNetwork, "web_fetch"));

    assert_eq!(context.iter().collect::<Vec<_>>(), [User, ExternalNetwork]);
    let sources: Vec<_> = context.sources(ExternalNetwork).unwrap().iter().collect();
    assert_eq!(sources, ["browser_navigate", "web_fetch"]);
    assert_eq!(context.sources(Secret), None);
}

#[test]
fn sixteen_sources_are_named_and_then_there_are_many() {
    assert!(!from(0..16).sources(McpServer).unwrap().are_many());
    let many = from(0..200);
    let sources = many.sources(McpServer).unwrap();

    assert_eq!(sources.iter().count(), 16);
    assert!(sources.are_many());
}

#[test]
fn a_join_does_not_depend_on_the_order() {
    let samples = [from([]), from([7]), from(0..16), from(8..24), from((0..200).step_by(3)), from(190..200)];
    for a in &samples {
        assert_eq!(a.clone().joined(a), *a);
        for b in &samples {
            let joined = a.clone().joined(b);
            assert_eq!(joined, b.clone().joined(a));
            assert!(joined.covers(a) && joined.covers(b));
            assert_eq!(a.covers(b), joined == *a, "{a:?} {b:?}");
            for c in &samples {
                assert_eq!(joined.clone().joined(c), a.clone().joined(&b.clone().joined(c)));
            }
        }
    }
}

#[test]
fn a_message_names_a_few_sources_and_counts_the_others() {
    assert_eq!(shown(&from([1])), "server 001");
    assert_eq!(shown(&from([2, 1])), "server 001, server 002");
    assert_eq!(shown(&from(0..6)), "server 000, server 001, server 002, server 003 and 2 more");
    assert_eq!(shown(&from(0..60)), "server 000, server 001, server 002, server 003 and many more");
}

#[test]
fn a_very_long_name_of_a_source_is_cut_at_a_character() {
    let long = "\u{e4}".repeat(1_000);
    let mut labels = Labels::one(Pii, long.as_str());
    labels.add(Pii, long.as_str());
    let sources: Vec<_> = labels.sources(Pii).unwrap().iter().collect();

    assert_eq!(sources.len(), 1);
    assert!(sources[0].len() <= LABEL_SOURCE_BYTES && sources[0].ends_with('…'));
}

#[test]
fn labels_survive_being_stored() {
    for labels in [from([]), from([1]), from([1, 2]), from(0..16), from(0..99)] {
        let labels = labels.joined(&Labels::one(Operator, "the \"config\""));
        let text = serde_json::to_string(&labels).unwrap();

        assert_eq!(serde_json::from_str::<Labels>(&text).unwrap(), labels, "{text}");
    }
}

#[test]
fn labels_that_were_stored_with_one_source_are_read_and_still_written_so() {
    let stored = r#"[{"label":"user","source":"rest"},{"label":"mcp-server","source":"the \"MCP\" server x"}]"#;
    let labels: Labels = serde_json::from_str(stored).unwrap();

    assert_eq!(labels.sources(User).unwrap().to_string(), "rest");
    assert_eq!(serde_json::to_string(&labels).unwrap(), stored);
}

#[test]
fn one_source_that_comes_again_leaves_the_labels_as_they_were() {
    let mut context = Labels::one(McpServer, "the MCP server x");
    let SourceSet::One(before) = context.sources(McpServer).unwrap().0.clone() else {
        panic!("one source has no list")
    };
    context.join(&Labels::one(McpServer, "the MCP server x"));
    let SourceSet::One(after) = &context.sources(McpServer).unwrap().0 else { panic!("one source has no list") };

    assert!(Arc::ptr_eq(&before, after));
}
