//! What is cut, and where.

use std::borrow::Cow;

use openfang_types::content::ContentBlock;
use serde_json::json;

use super::*;

fn limits(chars: usize, bytes: usize) -> Limits {
    Limits { tool_result_chars: chars, tool_result_block_bytes: bytes, ..Limits::default() }
}

const ID: &str = "00000000-0000-4000-8000-000000000001";

fn marked(mut output: ToolOutput, losses: Vec<Loss>) -> ToolOutput {
    for loss in losses {
        loss.mark(&mut output.content[loss.place()], &Fate::Kept(ID.parse().unwrap()));
    }
    output
}

fn to_limits(mut output: ToolOutput, limits: &Limits) -> ToolOutput {
    let losses = super::to_limits(&mut output, limits);
    marked(output, losses)
}

fn rest(more: usize, offset: usize) -> String {
    format!(
        "\n[truncated: {more} more characters; read on with result_read, id {ID}, offset {offset}, or read all of it at \
         openfang://results/{ID}]"
    )
}

fn left_out(what: &str, size: usize, cap: usize) -> String {
    format!(
        "[{what} of {size} bytes left out: the limit is {cap}; read it with result_read, id {ID}, or at \
         openfang://results/{ID}]"
    )
}

fn image(size: usize) -> Block {
    ContentBlock::Image { data: "x".repeat(size), mime_type: "image/png".into() }.into()
}

#[test]
fn text_is_cut_between_characters_and_says_how_much_is_missing() {
    let output = to_limits(ToolOutput::text("äöüßé"), &limits(4, 100));

    assert_eq!(output.joined_text(), format!("äö{}", rest(3, 2)));
    assert!(!output.is_error, "what was cut says so itself");
}

#[test]
fn text_of_exactly_the_limit_is_left_alone() {
    let output = to_limits(ToolOutput::text("äöüß"), &limits(4, 100));

    assert_eq!(output.joined_text(), "äöüß");
}

#[test]
fn several_blocks_share_one_budget_and_one_marker() {
    let mut output = ToolOutput::text("abc");
    output
        .content
        .extend([Block::text("defg"), image(1), Block::text("hi"), Block::text("j")]);

    let losses = super::to_limits(&mut output, &limits(8, 100));

    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].content, "defg\nhi\nj", "all texts from the one that is cut on");
    let cut = marked(output, losses);
    let texts: Vec<String> = cut.content.iter().filter_map(|block| block.as_text().map(Cow::into_owned)).collect();
    assert_eq!(texts, ["abc".to_owned(), format!("d{}", rest(6, 1))]);
    assert_eq!(cut.content[2], image(1), "what is not text stays");
}

#[test]
fn a_text_that_was_cut_is_not_cut_again() {
    let once = to_limits(ToolOutput::text("ä".repeat(200_000)), &Limits::default());
    assert!(once.joined_text().chars().count() <= Limits::default().tool_result_chars);

    let mut twice = once.clone();
    assert!(super::to_limits(&mut twice, &Limits::default()).is_empty());
    assert_eq!(twice, once);
}

#[test]
fn what_is_lost_is_given_back_as_it_was() {
    let (large, whole) = (image(300), "\u{1f980}".repeat(100));
    let mut output = ToolOutput::text(whole.as_str()).with_structured(&json!({ "a": "y".repeat(300) }));
    output.content.push(large.clone());

    let losses = super::to_limits(&mut output, &limits(50, 100));

    let given: Vec<(ResultForm, &str)> = losses.iter().map(|loss| (loss.form, loss.content.as_str())).collect();
    let structured = json!({ "a": "y".repeat(300) }).to_string();
    let image = serde_json::to_string(&large).unwrap();
    assert_eq!(given, [(ResultForm::Text, &*whole), (ResultForm::Json, &*image), (ResultForm::Json, &*structured)]);
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
    assert_eq!(said(2), left_out("image", limit + 1, limit));
    assert!(cut.structured.is_none());
    assert_eq!(said(3), left_out("structured content", limit + 8, limit));
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
        answer_to_limits(&mut output, &Limits::default(), Some(ID.parse().unwrap()));
        output
    };
    assert!(!answer(2).is_error);

    let cut = answer(5);

    assert!(cut.is_error);
    assert_eq!(cut.content.len(), 3);
    let said = cut.content[2].as_text().unwrap();
    let whole = format!("all of it is at openfang://tasks/{ID}");
    assert_eq!(said, format!("[3 more blocks left out: an answer has at most 983040 bytes; {whole}]"));
    assert!(serde_json::to_string(&cut).unwrap().len() < 1024 * 1024);
}

#[test]
fn a_text_of_a_server_that_is_cut_keeps_what_else_its_block_says() {
    let block = Block::of(&json!({"type": "text", "text": "abcdef", "annotations": {"priority": 1}})).unwrap();

    let cut = to_limits(ToolOutput::of_blocks(vec![block]), &limits(4, 100));

    assert_eq!(
        serde_json::to_value(&cut.content[0]).unwrap(),
        json!({"type": "text", "text": format!("ab{}", rest(4, 2)), "annotations": {"priority": 1}})
    );
}

#[test]
fn what_is_handed_through_is_never_cut_and_is_an_error_where_something_is_left_out() {
    let mut large = ToolOutput::text("x".repeat(100)).with_structured(&json!({"a": 1}));
    assert!(to_byte_limit(&mut large, 200).is_empty());
    assert!(!large.is_error && large.joined_text().len() == 100);

    let losses = to_byte_limit(&mut large, 50);
    let large = marked(large, losses);
    assert!(large.is_error);
    assert_eq!(large.joined_text(), left_out("text", 100, 50));

    let mut structured = ToolOutput::text("t").with_structured(&json!({"a": "y".repeat(100)}));
    assert_eq!(to_byte_limit(&mut structured, 50).len(), 1);
    assert!(structured.is_error && structured.structured.is_none());
}
