//! Stored answers, and which of them may be replayed.

use proptest::prelude::*;
use serde_json::json;

use super::{Block, Call, CallArguments, NativeItems, Usage, family};
use crate::wire::WireKind;

#[test]
fn blocks_and_native_items_are_stored_and_read_without_loss() {
    let raw = |value: serde_json::Value| serde_json::value::to_raw_value(&value).unwrap();
    let blocks = vec![
        Block::Text { text: "Ten.".to_owned() },
        Block::Thinking { text: "Hm.".to_owned() },
        Block::Call(Call {
            id: "c".to_owned(),
            name: "add".to_owned(),
            arguments: CallArguments::parse("{\"a\": 1.50}"),
        }),
        Block::Call(Call { id: "d".to_owned(), name: "add".to_owned(), arguments: CallArguments::parse("{") }),
    ];
    let stored = serde_json::to_string(&blocks).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Block>>(&stored).unwrap(), blocks);
    let native =
        NativeItems { wire: WireKind::Gemini, model: "gemini-3-pro".to_owned(), items: vec![raw(json!({ "x": 1 }))] };
    let stored = serde_json::to_string(&native).unwrap();
    assert_eq!(serde_json::from_str::<NativeItems>(&stored).unwrap(), native);
}

#[test]
fn a_release_date_does_not_make_another_family() {
    assert_eq!(family("claude-sonnet-4-6-20260105"), "claude-sonnet-4-6");
    assert_eq!(family("claude-sonnet-4-6"), "claude-sonnet-4-6");
    assert_eq!(family("mistral-large-latest"), "mistral-large");
    assert_ne!(family("claude-sonnet-4-5"), family("claude-sonnet-4-6"));
}

proptest! {
    #[test]
    fn parts_of_a_usage_never_exceed_their_whole(
        input in any::<Option<u64>>(), cached in any::<Option<u64>>(), cache_written in any::<Option<u64>>(),
        output in any::<Option<u64>>(), reasoning in any::<Option<u64>>(),
    ) {
        let usage = Usage { input, cached, cache_written, output, reasoning }.plausible();
        if let Some(input) = usage.input {
            let parts = u128::from(usage.cached.unwrap_or(0)) + u128::from(usage.cache_written.unwrap_or(0));
            prop_assert!(parts <= u128::from(input));
        }
        if let (Some(output), Some(reasoning)) = (usage.output, usage.reasoning) {
            prop_assert!(reasoning <= output);
        }
    }

    #[test]
    fn any_text_as_arguments_is_an_object_or_says_why_not(text in any::<String>()) {
        match CallArguments::parse(&text) {
            CallArguments::Object(object) => prop_assert!(object.get().starts_with('\u{7b}'), "an object"),
            CallArguments::Invalid { reason, .. } => prop_assert!(!reason.is_empty()),
        }
    }
}
