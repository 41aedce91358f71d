//! The provider answers as OpenAI Chat does.

use super::*;

fn request(text: &str, results: usize) -> Bytes {
    let mut messages = vec![json!({ "role": "user", "content": text })];
    messages.extend((0..results).map(|number| json!({ "role": "tool", "content": number.to_string() })));
    json!({ "model": "m", "messages": messages }).to_string().into()
}

async fn said(text: &str, results: usize) -> String {
    let body = answer(&request(text, results)).unwrap().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn calls_are_made_until_their_results_are_there() {
    assert!(said("steps 2 of a", 1).await.contains("add_numbers"));
    assert!(said("steps 2 of a", 2).await.contains("Done."));
    assert!(said(NOW, 0).await.contains(SENT));
}

#[test]
fn what_is_no_request_gets_no_answer() {
    assert!(answer(&Bytes::from_static(b"{}")).is_none());
    assert!(answer(&Bytes::from_static(b"{\"messages\":[]}")).is_none());
}

#[test]
fn a_request_that_begins_like_the_one_before_shares_all_of_it() {
    assert!((shared(b"abcd", b"abcdef") - 1.0).abs() < f64::EPSILON);
    assert!((shared(b"abcd", b"abxx") - 0.5).abs() < f64::EPSILON);
}
