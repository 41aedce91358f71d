//! Questions of tools, as tasks put them, and what counts as an answer.

use openfang_types::ids::MessageId;
use openfang_types::task::Role;
use serde_json::json;

use super::*;

fn asking(params: &Value) -> InputRequired {
    let request = InputRequest {
        needs: if params["mode"] == "url" { Capability::ElicitationUrl } else { Capability::ElicitationForm },
        method: "elicitation/create",
        params: to_raw_value(params).unwrap(),
    };
    InputRequired { requests: BTreeMap::from([("q".to_owned(), request)]), state: b"s".to_vec() }
}

fn form(properties: &Value, required: &[&str]) -> InputRequired {
    asking(&json!({ "mode": "form", "message": "Who?", "requestedSchema":
        { "type": "object", "properties": properties, "required": required } }))
}

fn said(part: Part) -> Message {
    let id: MessageId = "m".parse().unwrap();
    Message::of_parts(id, Role::User, vec![part])
}

fn answered(questions: &InputRequired, part: Part) -> Result<Value, String> {
    let resumed = answers(&said(part), questions)?;
    assert_eq!(resumed.state, b"s");
    Ok(serde_json::from_str(resumed.answers["q"].get()).unwrap())
}

#[test]
fn a_text_answers_the_one_required_property_in_its_type() {
    let name = form(&json!({ "name": { "type": "string" }, "nick": { "type": "string" } }), &["name"]);
    assert_eq!(answered(&name, Part::text(" Ada ")), Ok(json!({ "action": "accept", "content": { "name": "Ada" } })));
    let sure = form(&json!({ "sure": { "type": "boolean" } }), &["sure"]);
    assert_eq!(answered(&sure, Part::text("yes")), Ok(json!({ "action": "accept", "content": { "sure": true } })));
    let age = form(&json!({ "age": { "type": "integer" } }), &["age"]);
    assert_eq!(answered(&age, Part::text("36")), Ok(json!({ "action": "accept", "content": { "age": 36 } })));
}

#[test]
fn several_properties_are_answered_in_json_or_as_data() {
    let both = form(&json!({ "a": { "type": "string" }, "b": { "type": "number" } }), &["a", "b"]);
    let content = json!({ "a": "x", "b": 2 });
    let accepted = Ok(json!({ "action": "accept", "content": content }));
    assert_eq!(answered(&both, Part::text(content.to_string())), accepted);
    assert_eq!(answered(&both, Part::data(content.clone())), accepted);
    assert_eq!(answered(&both, Part::data(json!({ "action": "accept", "content": content }))), accepted);
}

#[test]
fn an_answer_that_does_not_fit_says_what_is_wrong() {
    let both = form(&json!({ "a": { "type": "string" }, "b": { "type": "number" } }), &["a", "b"]);
    assert!(answered(&both, Part::text("hello")).unwrap_err().contains("JSON, with the members a, b"));
    assert!(answered(&both, Part::data(json!({ "a": "x" }))).unwrap_err().contains("does not say b"));
    assert!(
        answered(&both, Part::data(json!({ "a": "x", "b": "y" })))
            .unwrap_err()
            .starts_with("b is not what")
    );
    let choice = form(&json!({ "c": { "type": "string", "enum": ["red", "blue"] } }), &["c"]);
    assert!(answered(&choice, Part::text("green")).is_err());
    assert!(answered(&choice, Part::text("")).unwrap_err().contains("empty"));
}

#[test]
fn a_question_can_be_declined() {
    let name = form(&json!({ "name": { "type": "string" } }), &["name"]);
    assert_eq!(answered(&name, Part::text("/decline")), Ok(json!({ "action": "decline" })));
    assert_eq!(answered(&name, Part::data(json!({ "action": "cancel" }))), Ok(json!({ "action": "cancel" })));
}

#[test]
fn a_question_is_put_in_words_and_as_a_form_that_another_house_can_read() {
    let (state, parts) = put(&form(&json!({ "name": { "type": "string" } }), &["name"]));
    assert_eq!(state, TaskState::InputRequired);
    assert_eq!(parts[0].as_text(), Some("Who?\nReply with name, or with /decline."));
    assert_eq!(parts[1].media_type.as_deref(), Some(MEDIA_TYPE));
    let message = Message::of_parts("m".parse().unwrap(), Role::Agent, parts);
    assert!(is_asking(&message));
    assert_eq!(form_in(&message).unwrap()["requestedSchema"]["required"], json!(["name"]));
}

#[test]
fn a_page_to_visit_is_no_form() {
    let page =
        asking(&json!({ "mode": "url", "message": "Log in", "url": "https://example.org/x", "elicitationId": "1" }));
    let (state, parts) = put(&page);
    assert_eq!(state, TaskState::AuthRequired);
    assert_eq!(parts[1].body, PartBody::Url("https://example.org/x".to_owned()));
    assert_eq!(answered(&page, Part::text("done")), Ok(json!({ "action": "accept" })));
}
