//! Which pushes wake up whoever follows a task.

use super::*;

const TOKEN: &str = "0123456789abcdef";

fn expectation(hints: &Arc<PushHints>) -> PushExpectation {
    hints.expect("id".to_owned(), Secret::new(TOKEN.to_owned()), "https://us.example/a2a/push/id".to_owned())
}

const fn proof<'a>(token: Option<&'a str>, authorization: Option<&'a str>) -> PushProof<'a> {
    PushProof { token, authorization, signature: None }
}

#[tokio::test]
async fn a_push_with_the_secret_wakes_up_and_any_other_does_not() {
    let hints = Arc::<PushHints>::default();
    let expected = expectation(&hints);
    let bearer = format!("Bearer {TOKEN}");
    let rows = [
        (proof(Some(TOKEN), None), Ok(())),
        (proof(None, Some(&bearer)), Ok(())),
        (proof(Some(TOKEN), Some(&bearer)), Ok(())),
        (proof(None, None), Err(PushRefusal::WrongSecret)),
        (proof(Some(""), None), Err(PushRefusal::WrongSecret)),
        (proof(Some("0123456789abcdeF"), None), Err(PushRefusal::WrongSecret)),
        (proof(None, Some(TOKEN)), Err(PushRefusal::WrongSecret)),
        (proof(None, Some("Basic 0123456789abcdef")), Err(PushRefusal::WrongSecret)),
        (proof(Some(TOKEN), Some("Bearer wrong")), Err(PushRefusal::WrongSecret)),
    ];
    for (proof, verdict) in rows {
        assert_eq!(hints.check("id", proof), verdict, "{proof:?}");
        assert_eq!(hints.check("other", proof), Err(PushRefusal::Unknown));
    }

    hints.take("id", proof(Some(TOKEN), None), b"{}").unwrap();
    expected.hint().wake.notified().await;
    drop(expected);

    assert_eq!(hints.check("id", proof(Some(TOKEN), None)), Err(PushRefusal::Unknown));
    assert!(hints.lock().is_empty());
}

#[test]
fn a_signature_of_another_openfang_must_be_right_if_it_is_there() {
    let hints = Arc::<PushHints>::default();
    let _expected = expectation(&hints);
    let of = |body: &[u8]| sign_with(TOKEN.as_bytes(), &[b"12", b".", body]);
    let right = format!("t=12,kid=token,v1={}", of(b"body"));
    let other = format!("t=12,kid=token,v1={}", of(b"another body"));
    let own_key = format!("t=12,kid=0a0b0c0d,v1={}", of(b"another body"));
    for (signature, is_taken) in
        [(right.as_str(), true), (own_key.as_str(), true), (other.as_str(), false), ("", false), ("v1=", false)]
    {
        let proof = PushProof { signature: Some(signature), ..proof(Some(TOKEN), None) };
        assert_eq!(hints.take("id", proof, b"body").is_ok(), is_taken, "{signature}");
    }
}

#[tokio::test(start_paused = true)]
async fn ten_pushes_a_second_are_taken_for_one_task() {
    let hints = Arc::<PushHints>::default();
    let _expected = expectation(&hints);
    let push = || hints.check("id", proof(Some(TOKEN), None));
    for _ in 0..EXTERNAL_PUSHES_PER_SEC {
        assert_eq!(push(), Ok(()));
    }
    assert_eq!(push(), Err(PushRefusal::TooMany));

    tokio::time::advance(Duration::from_secs(1)).await;

    assert_eq!(push(), Ok(()));
}

#[test]
fn two_turns_of_a_task_share_an_expectation_that_ends_with_the_last() {
    let hints = Arc::<PushHints>::default();
    let (first, second) = (expectation(&hints), expectation(&hints));
    drop(first);
    assert_eq!(hints.check("id", proof(Some(TOKEN), None)), Ok(()));
    drop(second);
    assert_eq!(hints.check("id", proof(Some(TOKEN), None)), Err(PushRefusal::Unknown));
}
