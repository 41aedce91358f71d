//! Every kind of block, as a part.

use serde_json::json;

use super::*;

fn part(block: &Value) -> Part {
    let output = ToolOutput::of_blocks(vec![Block::of(block).unwrap()]);
    parts_of(&output).remove(0)
}

#[test]
fn a_link_keeps_what_was_said_about_it() {
    let link = part(&json!({
        "type": "resource_link", "uri": "file:///report.pdf", "name": "report", "title": "The report",
        "description": "of May", "mimeType": "application/pdf", "size": 7, "other": 1,
    }));

    assert_eq!(link.body, PartBody::Url("file:///report.pdf".to_owned()));
    assert_eq!(link.media_type.as_deref(), Some("application/pdf"));
    assert_eq!(link.filename, Some("report".to_owned().into()));
    let said = json!({ "title": "The report", "description": "of May", "size": 7 });
    assert_eq!(Value::Object(link.metadata), said);
}

#[test]
fn an_embedded_resource_is_its_text_or_its_bytes() {
    let text = part(&json!({
        "type": "resource", "resource": { "uri": "test://notes/a.md", "mimeType": "text/markdown", "text": "# a" },
    }));
    assert_eq!(text.body, PartBody::Text("# a".to_owned()));
    assert_eq!((text.media_type.as_deref(), text.filename), (Some("text/markdown"), Some("a.md".to_owned().into())));
    assert_eq!(Value::Object(text.metadata), json!({ "uri": "test://notes/a.md" }));

    let bytes = part(&json!({ "type": "resource", "resource": { "uri": "test://x", "blob": "AQI=" } }));
    assert_eq!((bytes.body, bytes.filename), (PartBody::Raw(vec![1, 2]), Some("x".to_owned().into())));
}

#[test]
fn a_resource_that_cannot_be_read_stays_data() {
    for resource in [json!({ "uri": "test://x" }), json!({ "uri": "test://x", "blob": "no base64!" }), json!({})] {
        let part = part(&json!({ "type": "resource", "resource": resource }));
        assert_eq!(part.body, PartBody::Data(resource));
    }
}

#[test]
fn a_structured_result_that_comes_as_text_too_is_one_part() {
    let blocks = vec![Block::text("{\"n\": 7}"), Block::text("seven")];
    let parts = parts_of(&ToolOutput::of_blocks(blocks).with_structured(&json!({ "n": 7 })));

    let bodies: Vec<PartBody> = parts.into_iter().map(|part| part.body).collect();
    assert_eq!(bodies, [PartBody::Text("seven".to_owned()), PartBody::Data(json!({ "n": 7 }))]);
}
