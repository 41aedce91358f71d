//! What is written is JSON, whatever the texts are.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Object, array, string, with_member};

#[test]
fn members_stand_in_the_order_of_the_calls() {
    let object = Object::typed("text")
        .number("n", 3)
        .flag("yes", true)
        .fraction("t", Some(0.5))
        .raw("list", "[1]")
        .end();
    assert_eq!(object, r#"{"type":"text","n":3,"yes":true,"t":0.5,"list":[1]}"#);
    assert_eq!(Object::new().fraction("t", Some(f64::NAN)).end(), "{}");
    assert_eq!(array(["1", "{}"]), "[1,{}]");
}

#[test]
fn a_member_is_added_to_any_object() {
    assert_eq!(with_member("{}", "a", "1"), r#"{"a":1}"#);
    assert_eq!(with_member("{\"b\": {\"c\": 2}} ", "a", "1"), r#"{"b": {"c": 2},"a":1}"#);
}

proptest! {
    #[test]
    fn any_text_comes_back_as_it_was(text in any::<String>()) {
        prop_assert_eq!(serde_json::from_str::<String>(&string(&text)).unwrap(), text.clone());
        let object: Value = serde_json::from_str(&Object::new().text(&text, &text).end()).unwrap();
        prop_assert_eq!(object, json!({ text.clone(): text }));
    }
}
