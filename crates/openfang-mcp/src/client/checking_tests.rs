//! Names of entries that are taken in.

use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

fn taken(names: &[&str]) -> (Vec<String>, usize) {
    let tools: Vec<Value> = names
        .iter()
        .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }))
        .collect();
    let page = to_raw_value(&json!({ "tools": tools })).unwrap();
    let mut checking = Checking::new(Listed::Tools);
    checking.page(&page).unwrap();
    let checked = checking.finish();
    let listed = checked.listing.entries().map(|entry| entry.name().to_owned()).collect();
    (listed, checked.left_out.len())
}

#[test]
fn a_tool_may_have_a_space_in_its_name_but_none_that_makes_it_look_like_another() {
    assert_eq!(taken(&["slow tool", "slow_tool"]), (vec!["slow tool".to_owned(), "slow_tool".to_owned()], 0));
    assert_eq!(taken(&["slow  tool", " slow", "slow ", "slow\ttool", "slow\u{a0}tool", ""]), (Vec::new(), 6));
}
