//! Which spellings count as equal.

use serde_json::{from_value, json};

use super::super::samples::raw;
use super::*;
use openfang_types::task::TaskState;

#[test]
fn a_state_is_known_in_every_spelling() {
    let spellings = [
        (TaskState::InputRequired, ["InputRequired", "inputRequired", "input-required", "INPUT_REQUIRED"]),
        (TaskState::Canceled, ["canceled", "cancelled", "TASK_STATE_CANCELED", "TASK_STATE_CANCELLED"]),
        (TaskState::AuthRequired, ["auth-required", "authRequired", "TASK_STATE_AUTH_REQUIRED", "Auth Required"]),
        (TaskState::Completed, ["completed", "Completed", "COMPLETED", "TaskState.completed"]),
    ];
    for (state, words) in spellings {
        for word in words {
            assert_eq!(Word::Text(word.into()).state(), Some(Some(state)), "{word}");
        }
    }
    for state in TaskState::ALL {
        assert_eq!(Word::Text(state.as_str().into()).state(), Some(Some(state)));
    }
    let numbered: Vec<_> = (0..=9).map(|number| Word::Number(number).state()).collect();
    assert_eq!(numbered[0], Some(None));
    assert!(numbered[1..=8].iter().all(|state| matches!(state, Some(Some(_)))));
    assert_eq!(numbered[9], None);
    assert_eq!(Word::Text("unknown".into()).state(), None);
}

#[test]
fn a_count_is_a_number_or_its_digits_and_never_less_than_nothing() {
    for good in [json!(5), json!("5"), json!(5.0)] {
        assert_eq!(from_value::<Count>(good).unwrap(), Count(5));
    }
    assert_eq!(from_value::<Count>(json!(u64::MAX)).unwrap(), Count(usize::MAX));
    for bad in [json!(-1), json!("-1"), json!(1.5), json!("1.5"), json!(1e18), json!(""), json!(true), json!([1])] {
        assert!(from_value::<Count>(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn base64_is_read_in_both_alphabets_with_and_without_padding() {
    for text in ["-_8", "-_8=", "+/8", "+/8="] {
        assert_eq!(bytes_of("raw", text).unwrap(), [251, 255], "{text}");
    }
    assert_eq!(bytes_of("raw", "").unwrap(), [0_u8; 0]);
    for text in ["+_8=", "a", "a b=", "====", "\u{e9}"] {
        assert_eq!(bytes_of("raw", text), Err(A2aError::invalid("raw", "`raw` must be base64")), "{text}");
    }
}

#[test]
fn a_refusal_names_the_whole_path() {
    let inner = || A2aError::invalid("parts[0]", "no");
    assert_eq!(under("message")(inner()), A2aError::invalid("message.parts[0]", "no"));
    assert_eq!(under("message")(A2aError::invalid("", "no")), A2aError::invalid("message", "no"));
    assert_eq!(under("parts")(A2aError::invalid("[1]", "no")), A2aError::invalid("parts[1]", "no"));
    assert_eq!(under("x")(A2aError::Internal), A2aError::Internal);
}

#[test]
fn both_spellings_of_one_member_at_once_are_refused() {
    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct InDialect {
        #[serde(alias = "page_size")]
        page_size: Option<Count>,
    }
    let read = params::<InDialect>(Some(&raw(&json!({"pageSize": 1})))).unwrap();
    assert_eq!(read.page_size, Some(Count(1)));

    let twice = RawValue::from_string(r#"{"pageSize": 1, "page_size": 2}"#.into()).unwrap();

    assert_eq!(params::<InDialect>(Some(&twice)).unwrap_err(), A2aError::invalid("", "duplicate field `pageSize`"));
}

#[test]
fn messages_without_an_id_get_one_each() {
    assert_ne!(fresh_message_id().unwrap(), fresh_message_id().unwrap());
}
