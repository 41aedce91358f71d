//! What is cut, and where.

use serde_json::json;

use super::*;

fn limits(chars: usize, bytes: usize) -> Limits {
    Limits { tool_result_chars: chars, tool_result_block_bytes: bytes, ..Limits::default() }
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
    output.content.push(ContentBlock::text("def"));

    let texts: Vec<String> = to_limits(output, &limits(4, 100))
        .content
        .iter()
        .filter_map(|block| block.as_text().map(str::to_owned))
        .collect();
    assert_eq!(texts, ["abc", "d\n[truncated: 2 more characters]"]);
}

#[test]
fn what_is_not_text_is_whole_or_replaced_but_never_cut() {
    let image = |size| ContentBlock::Image { data: "x".repeat(size), mime_type: "image/png".into() };
    let mut output = ToolOutput::text("t").with_structured(json!({"a": "y".repeat(50)}));
    output.content.extend([image(10), image(11)]);

    let cut = to_limits(output, &limits(100, 10));

    assert_eq!(cut.content[1], image(10));
    assert_eq!(cut.content[2].as_text(), Some("[image of 11 bytes left out: the limit is 10]"));
    assert_eq!(cut.structured_content, None);
    assert_eq!(cut.content[3].as_text(), Some("[structured content of 58 bytes left out: the limit is 10]"));
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
        let output = || ToolOutput { content: vec![block.clone()], ..ToolOutput::text("") };
        assert!(to_limits(output(), &limits(100, 10)).is_error, "{block:?}");
        assert!(!to_limits(output(), &limits(100, 1_000)).is_error, "{block:?}");
    }
    let structured = || ToolOutput::text("t").with_structured(json!({ "a": large }));
    assert!(to_limits(structured(), &limits(100, 10)).is_error);
    assert!(!to_limits(structured(), &limits(100, 1_000)).is_error);
}

#[test]
fn all_blocks_of_an_answer_together_stay_below_what_clients_take_in_one_event() {
    let image = || ContentBlock::Image { data: "x".repeat(400_000), mime_type: "image/png".into() };
    let answer = |images: usize| {
        let content = (0..images).map(|_| image()).collect();
        answer_to_limits(ToolOutput { content, ..ToolOutput::text("") }, &Limits::default())
    };
    assert!(!answer(2).is_error);

    let cut = answer(5);

    assert!(cut.is_error);
    assert_eq!(cut.content.len(), 3);
    assert_eq!(cut.content[2].as_text(), Some("[3 more blocks left out: an answer has at most 983040 bytes]"));
    assert!(serde_json::to_string(&cut).unwrap().len() < 1024 * 1024);
}
