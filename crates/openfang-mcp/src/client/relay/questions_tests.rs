//! Questions of servers, however they are written.

use serde_json::json;

use super::*;

fn outcome(result: &str) -> Outcome<Box<RawValue>> {
    modern_outcome(RawValue::from_string(result.to_owned()).unwrap()).unwrap()
}

#[test]
fn a_result_that_asks_is_a_question_whatever_escapes_it_is_written_with() {
    for asking in [
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#,
        r#"{"resultType":"input\u005frequired","inputRequests":{"a":{"method":"roots/list"}}}"#,
        r#"{"result\u0054ype":"\u0069nput_required","inputRequests":{"a":{"method":"roots/list"}}}"#,
    ] {
        assert!(matches!(outcome(asking), Outcome::NeedsInput(asked) if asked.requests.contains_key("a")), "{asking}");
        let plain = plain_answer(RawValue::from_string(asking.to_owned()).unwrap(), Questions::InResult);
        assert!(matches!(plain, Err(ClientError::Refused(_))), "{asking}");
    }
    for plain in [
        r#"{"resultType":"complete","content":[{"type":"text","text":"\u00e4 input_required"}]}"#,
        r#"{"content":[{"type":"text","text":"\u00e4"}],"resultType":7}"#,
        r#"{"content":[]}"#,
    ] {
        assert!(matches!(outcome(plain), Outcome::Done(result) if result.get() == plain), "{plain}");
    }
}

#[test]
fn a_question_without_a_word_of_its_own_gets_one_that_no_other_has() {
    let question = |key: Option<&str>| {
        let params = key.map(|key| raw(&json!({ "_meta": { QUESTION_KEY: key } })));
        Question { id: Id::Null, method: "roots/list".to_owned(), params }
    };
    let asked = [None, Some("question-1"), Some("question-1"), Some("question-3"), None];
    let keyed = keyed(asked.into_iter().map(question).collect());

    let keys: Vec<&str> = keyed.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["question-2", "question-1", "question-4", "question-3", "question-5"]);
}
