//! Tools as the wires want them.

use proptest::prelude::*;
use serde_json::json;

use super::{ToolSpec, Toolbox};
use crate::answer::CallArguments;
use crate::wire::WireKind;

fn tool(name: &str) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: "d".repeat(3_000), schema: json!({ "type": "object" }) }
}

#[test]
fn tools_are_sorted_so_that_their_order_never_changes_the_bytes() {
    let one = Toolbox::new(vec![tool("b"), tool("a"), tool("c"), tool("a")]);
    let names: Vec<&str> = (0..3).filter_map(|place| one.name_at(place)).collect();
    assert_eq!((names, one.name_at(3)), (vec!["a", "b", "c"], None));
    assert_eq!(one.without("b").name_at(1), Some("c"));
}

#[test]
fn long_descriptions_are_cut_on_the_chat_wires_only() {
    let tools = Toolbox::new(vec![tool("a")]);
    let length = |wire| tools.advertised(wire).tools[0].description.len();
    assert_eq!((length(WireKind::Chat), length(WireKind::Anthropic)), (1_000, 3_000));
}

#[test]
fn gemini_gets_names_that_begin_with_a_letter() {
    let tools = Toolbox::new(vec![tool("3d_print")]);
    assert_eq!(tools.advertised(WireKind::Gemini).tools[0].name, "_3d_print");
    assert_eq!(tools.advertised(WireKind::Chat).tools[0].name, "3d_print");
    assert_eq!(tools.advertised(WireKind::Gemini).original_name("_3d_print"), "3d_print");
}

#[test]
fn arguments_come_back_under_the_names_of_the_tool() {
    let schema = json!({ "type": "object", "properties": { "größe": { "type": "integer" } } });
    let tools = Toolbox::new(vec![ToolSpec { schema, ..tool("measure") }]);
    let advertised = tools.advertised(WireKind::Anthropic);
    let sent: serde_json::Value = serde_json::from_str(&advertised.tools[0].schema).unwrap();
    let name = sent["properties"].as_object().unwrap().keys().next().unwrap().clone();
    let arguments = CallArguments::parse(&json!({ name: 5 }).to_string());
    assert_eq!(advertised.restored("measure", arguments).as_json(), "{\"größe\":5}");
}

proptest! {
    #[test]
    fn any_names_become_valid_and_stay_different(names in prop::collection::hash_set(any::<String>(), 0..12)) {
        let tools = Toolbox::new(names.iter().map(|name| tool(name)).collect());
        for wire in WireKind::ALL {
            let advertised = tools.advertised(wire);
            let mut sent: Vec<&str> = advertised.tools.iter().map(|tool| tool.name.as_str()).collect();
            for name in &sent {
                prop_assert!((1..=64).contains(&name.len()), "{name}");
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{name}");
            }
            for name in &names {
                let sent = advertised.wire_name(name);
                prop_assert_eq!(advertised.original_name(&sent), name);
            }
            sent.sort_unstable();
            sent.dedup();
            prop_assert_eq!(sent.len(), names.len());
        }
    }
}
