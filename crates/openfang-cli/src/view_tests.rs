//! Results as text.

use serde_json::json;

use openfang_types::content::Block;

use super::*;

fn artifact(name: &str, parts: Vec<Part>) -> Artifact {
    Artifact::of_parts("a".parse().unwrap(), Some(name.to_owned()), parts)
}

#[test]
fn the_chunks_of_an_answer_join_and_the_blocks_of_a_result_stand_on_their_own_lines() {
    let parts = || vec![Part::text("Hel"), Part::text("lo")];

    assert_eq!(artifact_text(&artifact("reply", parts())), "Hello");
    assert_eq!(artifact_text(&artifact("file_list-result", parts())), "Hel\nlo");
}

#[test]
fn data_is_shown_only_where_there_is_no_text() {
    let data = Part::data(json!({ "result": 10 }));

    assert_eq!(artifact_text(&artifact("x-result", vec![Part::text("10"), data.clone()])), "10");
    assert_eq!(artifact_text(&artifact("x-result", vec![data])), "{\n  \"result\": 10\n}");
}

#[test]
fn a_file_is_named_and_not_dumped() {
    let file = Part::file(vec![0; 5], Some("x.bin".into()), Some("image/png".to_owned()));

    assert_eq!(artifact_text(&artifact("f", vec![file])), "[file x.bin, image/png, 5 bytes; --json prints it]");
}

#[test]
fn a_tool_result_is_its_text_else_its_structured_content() {
    let structured = json!({ "result": 10 });
    let only_structured = ToolOutput { content: Vec::new(), ..ToolOutput::text("").with_structured(&structured) };
    let rows = [
        (ToolOutput::text("10").with_structured(&structured), "10"),
        (only_structured, "{\n  \"result\": 10\n}"),
        (ToolOutput { content: Vec::new(), ..ToolOutput::text("") }, ""),
    ];
    for (output, expected) in rows {
        assert_eq!(output_text(&output), expected);
    }
}

#[test]
fn blocks_that_are_not_text_are_described() {
    let content = vec![
        ContentBlock::text("see"),
        ContentBlock::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned() },
        ContentBlock::ResourceLink { uri: "file:///x".to_owned(), name: "x".to_owned() },
    ];

    let text = output_text(&ToolOutput::of_blocks(content.into_iter().map(Block::from).collect()));

    assert_eq!(text, "see\n[image image/png, 3 bytes; --json prints it]\nx: file:///x");
}
