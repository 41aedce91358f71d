//! Messages and results as a model reads them.

use openfang_model::Part as ModelPart;
use openfang_types::content::{Block, ContentBlock, ToolOutput};
use openfang_types::task::{Message, Part, PartBody, Role};
use serde_json::json;

use super::{of_message, of_output};

fn texts(parts: &[ModelPart]) -> Vec<&str> {
    parts
        .iter()
        .map(|part| match part {
            ModelPart::Text { text } => text.as_str(),
            ModelPart::Image(_) => "<image>",
            ModelPart::Audio(_) => "<audio>",
        })
        .collect()
}

#[test]
fn every_part_of_a_message_is_read_or_described() {
    let parts = vec![
        Part::text("look"),
        Part::data(json!({ "n": 1 })),
        Part::new(PartBody::Url("https://a.example/x.pdf".to_owned())),
        Part::file(vec![1, 2], None, Some("image/png".to_owned())),
        Part::file(b"a,b".to_vec(), Some("t.csv".to_owned().into()), Some("text/csv".to_owned())),
        Part::file(vec![0xff, 0xfe], None, Some("application/zip".to_owned())),
    ];
    let message = Message::of_parts("m".parse().unwrap(), Role::User, parts);

    let read = of_message(&message);

    assert_eq!(
        texts(&read),
        [
            "look",
            "{\"n\":1}",
            "[file at https://a.example/x.pdf]",
            "<image>",
            "[t.csv]\na,b",
            "[file: 2 bytes of application/zip, which cannot be shown]"
        ]
    );
}

#[test]
fn a_structured_result_is_read_once() {
    let said = ToolOutput::text("{\"sum\":3}").with_structured(&json!({ "sum": 3 }));
    let only = ToolOutput::of_blocks(Vec::new()).with_structured(&json!({ "sum": 3 }));
    let image = ContentBlock::Image { data: "AQ==".to_owned(), mime_type: "image/png".to_owned() };
    let shown = ToolOutput::of_blocks(vec![Block::from(image)]);

    assert_eq!(texts(&of_output(&said)), ["{\"sum\":3}"]);
    assert_eq!(texts(&of_output(&only)), ["{\"sum\":3}"]);
    assert_eq!(texts(&of_output(&shown)), ["<image>"]);
}
