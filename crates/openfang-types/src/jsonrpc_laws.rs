//! What holds of the envelope for any bytes at all. The property tests and the fuzz target (`fuzz/`) both call
//! [`decoding_is_total_and_encoding_undoes_it`]; the includer has the public API in scope.

use super::{Id, IdRule, Incoming, RpcError};
use super::{decode, decode_batch, encode_error, encode_notification, encode_request, encode_result};

const BATCH_MAX: usize = 4;

/// Nothing panics; what is decoded survives a round trip; what is refused has an answer that we could read ourselves.
pub(crate) fn decoding_is_total_and_encoding_undoes_it(bytes: &[u8]) {
    for rule in [IdRule::Mcp, IdRule::A2a] {
        check(&decode(bytes, rule), rule);
        match decode_batch(bytes, rule, BATCH_MAX) {
            Ok(batch) => {
                assert!((1..=BATCH_MAX).contains(&batch.len()), "{batch:?}");
                batch.iter().for_each(|message| check(message, rule));
            }
            Err(refusal) => check_refusal(&refusal, rule),
        }
    }
}

fn check(decoded: &Result<Incoming<'_>, RpcError>, rule: IdRule) {
    match decoded {
        Ok(message) => {
            let frame = encode(message);
            assert!(!frame.contains(&b'\n') && !frame.contains(&b'\r'), "{message:?}");
            let again = decode(&frame, rule).map(|again| format!("{again:?}"));
            // Debug escapes the line breaks of strings, so those that are left stood in raw values.
            assert_eq!(again, Ok(format!("{message:?}").replace(['\n', '\r'], " ")));
        }
        Err(refusal) => check_refusal(refusal, rule),
    }
}

fn encode(message: &Incoming<'_>) -> Vec<u8> {
    match message {
        Incoming::Request { id, method, params } => encode_request(id, method, *params),
        Incoming::Notification { method, params } => encode_notification(method, *params),
        Incoming::Response { id, outcome: Ok(result) } => encode_result(id, *result),
        Incoming::Response { id, outcome: Err(error) } => encode_error(Some(id), error),
    }
}

fn check_refusal(refusal: &RpcError, rule: IdRule) {
    let answer = encode_error(refusal.id(), &refusal.to_error_object());
    match decode(&answer, rule) {
        Ok(Incoming::Response { id, outcome: Err(error) }) => {
            assert_eq!(&id, refusal.id().unwrap_or(&Id::Null));
            assert_eq!(error, refusal.to_error_object());
        }
        other => panic!("the answer to {refusal:?} reads as {other:?}"),
    }
}
