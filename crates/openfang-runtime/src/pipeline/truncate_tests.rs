//! What is cut, and where.

use std::borrow::Cow;

use openfang_types::content::ContentBlock;
use serde_json::json;

use super::*;

fn limits(chars: usize, bytes: usize) -> Limits {
    Limits { tool_result_chars: chars, tool_result_block_bytes: bytes, ..Limits::default() }
}

fn to_limits(mut output: ToolOutput, limits: &Limits) -> ToolOutput {
    super::to_limits(&mut output, limits);
    output
}

fn image(size: usize) -> Block {
    ContentBlock::Image { data: "x".repeat(size), mime_type: "image/png".into() }.into()
}

#[test]
fn text_is_cut_between_characters_and_says_how_much_is_missing() {
    let output = to_limits(ToolOutput::text("äöüß"), &limits(2, 100));

    assert_eq!(output.joined_text(), "äö\n[truncated: 2 more characters]");
    assert!(!output.is_error, "what was cut says so itself");
}

#[test]
fn text_of_exactly_the_limit_is_left_alone() {
    let output = to_limits(ToolOutput::text("äöüß"), &limits(4, 100));

    assert_eq!(output.joined_text(), "äöüß");
}

#[test]
fn several_blocks_share_one_budget() {
    let mut output = ToolOutput::text("abc");
    output.content.push(Block::text("def"));

    let texts: Vec<String> = to_limits(output, &limits(4, 100))
        .content
        .iter()
        .filter_map(|block| block.as_text().map(Cow::into_owned))
        .collect();
    assert_eq!(texts, ["abc", "d\n[truncated: 2 more characters]"]);
}

#[test]
fn what_is_not_text_is_whole_or_replaced_but_never_cut() {
    let (small, large) = (image(10), image(11));
    let limit = small.size();
    let mut output = ToolOutput::text("t").with_structured(&json!({"a": "y".repeat(limit)}));
    output.content.extend([small.clone(), large]);

    let cut = to_limits(output, &limits(100, limit));

    let said = |block: usize| cut.content[block].as_text().unwrap().into_owned();
    assert_eq!(cut.content[1], small);
    assert_eq!(said(2), format!("[image of {} bytes left out: the limit is {limit}]", limit + 1));
    assert!(cut.structured.is_none());
    assert_eq!(said(3), format!("[structured content of {} bytes left out: the limit is {limit}]", limit + 8));
}

#[test]
fn a_result_of_which_something_is_left_out_is_an_error() {
    let large = "y".repeat(50);
    let blocks = [
        ContentBlock::Image { data: large.clone(), mime_type: "image/png".into() },
        ContentBlock::Audio { data: large.clone(), mime_type: "audio/wav".into() },
        ContentBlock::ResourceLink { uri: large.clone(), name: "n".into() },
        ContentBlock::Resource { resource: json!({ "uri": "a://b", "text": large }) },
    ];
    for block in blocks {
        let output = || ToolOutput::of_blocks(vec![block.clone().into()]);
        assert!(to_limits(output(), &limits(100, 10)).is_error, "{block:?}");
        assert!(!to_limits(output(), &limits(100, 1_000)).is_error, "{block:?}");
    }
    let structured = || ToolOutput::text("t").with_structured(&json!({ "a": large }));
    assert!(to_limits(structured(), &limits(100, 10)).is_error);
    assert!(!to_limits(structured(), &limits(100, 1_000)).is_error);
}

#[test]
fn all_blocks_of_an_answer_together_stay_below_what_clients_take_in_one_event() {
    let answer = |images: usize| {
        let mut output = ToolOutput::of_blocks((0..images).map(|_| image(400_000)).collect());
        answer_to_limits(&mut output, &Limits::default());
        output
    };
    assert!(!answer(2).is_error);

    let cut = answer(5);

    assert!(cut.is_error);
    assert_eq!(cut.content.len(), 3);
    let said = cut.content[2].as_text().unwrap();
    assert_eq!(said, "[3 more blocks left out: an answer has at most 983040 bytes]");
    assert!(serde_json::to_string(&cut).unwrap().len() < 1024 * 1024);
}

#[test]
fn a_text_of_a_server_that_is_cut_keeps_what_else_its_block_says() {
    let block = Block::of(&json!({"type": "text", "text": "abcdef", "annotations": {"priority": 1}})).unwrap();

    let cut = to_limits(ToolOutput::of_blocks(vec![block]), &limits(2, 100));

    assert_eq!(
        serde_json::to_value(&cut.content[0]).unwrap(),
        json!({"type": "text", "text": "ab\n[truncated: 4 more characters]", "annotations": {"priority": 1}})
    );
}

#[test]
fn what_is_handed_through_is_never_cut_and_is_an_error_where_something_is_left_out() {
    let mut large = ToolOutput::text("x".repeat(100)).with_structured(&json!({"a": 1}));
    to_byte_limit(&mut large, 200);
    assert!(!large.is_error && large.joined_text().len() == 100);

    to_byte_limit(&mut large, 50);
    assert!(large.is_error);
    assert_eq!(large.joined_text(), "[text of 100 bytes left out: the limit is 50]");

    let mut structured = ToolOutput::text("t").with_structured(&json!({"a": "y".repeat(100)}));
    to_byte_limit(&mut structured, 50);
    assert!(structured.is_error && structured.structured.is_none());
}
