//! What is a message and what is not, what a refusal carries, and that encoding undoes decoding.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

#[path = "jsonrpc_laws.rs"]
mod laws;

use laws::decoding_is_total_and_encoding_undoes_it;

/// A message as one line: `request 1 ping {}`, `notification ping`, `result 1 {}`, `error 1 -32600 no`, or why not.
fn told(frame: &str, rule: IdRule) -> String {
    decoding_is_total_and_encoding_undoes_it(frame.as_bytes());
    tell(&decode(frame.as_bytes(), rule))
}

fn tell(decoded: &Result<Incoming<'_>, RpcError>) -> String {
    let shown = |params: &Option<&RawValue>| params.map(|raw| format!(" {}", raw.get())).unwrap_or_default();
    match decoded {
        Ok(Incoming::Request { id, method, params }) => format!("request {id} {method}{}", shown(params)),
        Ok(Incoming::Notification { method, params }) => format!("notification {method}{}", shown(params)),
        Ok(Incoming::Response { id, outcome: Ok(result) }) => format!("result {id} {}", result.get()),
        Ok(Incoming::Response { id, outcome: Err(error) }) => {
            let data = error.data.as_deref().map(|raw| format!(" {}", raw.get())).unwrap_or_default();
            format!("error {id} {} {}{data}", error.code, error.message)
        }
        Err(RpcError::NotJson(error)) => format!("not json: {error}"),
        Err(RpcError::BadRequest { id, fault }) => format!("bad request {}: {fault}", tell_id(id)),
        Err(RpcError::BadResponse { id, fault }) => format!("bad response {}: {fault}", tell_id(id)),
    }
}

fn tell_id(id: &Option<Id>) -> String {
    id.as_ref().map_or_else(|| "without id".to_owned(), Id::to_string)
}

fn check(rows: &[(&str, &str)]) {
    for (frame, expected) in rows {
        assert_eq!(told(frame, IdRule::Mcp), *expected, "{frame}");
    }
}

#[test]
fn requests_and_notifications_are_read_with_their_params_untouched() {
    check(&[
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
        (r#"{"method":"ping","id":"1","jsonrpc":"2.0"}"#, r#"request "1" ping"#),
        (r#" {"jsonrpc":"2.0","id":1,"method":"a","params":{ "x" : 1e999 }} "#, r#"request 1 a { "x" : 1e999 }"#),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#, "request 1 a [1]"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","extra":{"method":"b"}}"#, "request 1 a"),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "notification notifications/initialized"),
        (r#"{"jsonrpc":"2.0","method":"n","params":{}}"#, "notification n {}"),
        (r#"{"\u006asonrpc":"\u0032.0","\u0069d":1,"m\u0065thod":"p\u0069ng"}"#, "request 1 ping"),
        (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, "request 1 "),
    ]);
}

#[test]
fn ids_are_strings_or_exact_integers() {
    for id in ["0", "-1", "9223372036854775807", "-9223372036854775808", r#""""#, r#""1""#, r#""a\"b""#] {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let Ok(Incoming::Request { id: read, .. }) = decode(frame.as_bytes(), IdRule::Mcp) else { panic!("{frame}") };
        assert_eq!(serde_json::to_string(&read).unwrap(), id);
    }
    for id in r#"1.5 1.0 1e3 -0 9223372036854775808 1e999 true {} [] [1] {"bad":"type"}"#.split(' ') {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        for rule in [IdRule::Mcp, IdRule::A2a] {
            assert_eq!(told(&frame, rule), "bad request without id: id must be a string or an integer", "{id}");
        }
    }
}

#[test]
fn a_null_id_is_a_request_in_a2a_and_refused_in_mcp() {
    let frame = r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#;

    assert_eq!(told(frame, IdRule::A2a), "request null m");
    assert_eq!(told(frame, IdRule::Mcp), "bad request without id: id must be a string or an integer");
}

#[test]
fn members_that_only_look_like_method_are_not_method() {
    let no_method = "bad request 1: method must be a string";
    check(&[
        (r#"{"jsonrpc":"2.0","id":1,"Method":"a"}"#, no_method),
        (r#"{"jsonrpc":"2.0","id":1,"method\u0000":"a"}"#, no_method),
        (r#"{"jsonrpc":"2.0","id":1,"ｍethod":"a"}"#, no_method),
        (r#"{"jsonrpc":"2.0","id":1," method":"a"}"#, no_method),
        (r#"{"jsonrpc":"2.0","id":1,"Method":"evil","method":"ping"}"#, "request 1 ping"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping\u0000"}"#, "request 1 ping\0"),
    ]);
}

#[test]
fn a_refused_request_carries_its_id_when_it_could_be_read() {
    check(&[
        (r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#, r#"bad request 7: jsonrpc must be "2.0""#),
        (r#"{"id":"x","method":"m"}"#, r#"bad request "x": jsonrpc must be "2.0""#),
        (r#"{"jsonrpc":2.0,"id":7,"method":"m"}"#, r#"bad request 7: jsonrpc must be "2.0""#),
        (r#"{"jsonrpc":"2.0 ","id":7,"method":"m"}"#, r#"bad request 7: jsonrpc must be "2.0""#),
        (r#"{"jsonrpc":"aaa","method":"m"}"#, r#"bad request without id: jsonrpc must be "2.0""#),
        (r#"{"jsonrpc":null,"id":true,"method":"m"}"#, r#"bad request without id: jsonrpc must be "2.0""#),
        (r#"{"jsonrpc":"2.0","id":7}"#, "bad request 7: method must be a string"),
        (r#"{"jsonrpc":"2.0","params":{}}"#, "bad request without id: method must be a string"),
        (r#"{"jsonrpc":"2.0","id":7,"method":null}"#, "bad request 7: method must be a string"),
        (r#"{"jsonrpc":"2.0","id":7,"method":["m"]}"#, "bad request 7: method must be a string"),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":null}"#,
            "bad request 7: params must be an object or an array",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":"x"}"#,
            "bad request 7: params must be an object or an array",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"m","result":{}}"#,
            "bad request 7: a message has one of method, result and error",
        ),
        ("{}", r#"bad request without id: jsonrpc must be "2.0""#),
        ("7", "bad request without id: a message must be an object"),
        (r#"["2.0",1,"ping"]"#, "bad request without id: a batch is not accepted here"),
    ]);
}

#[test]
fn responses_have_a_result_or_an_error() {
    check(&[
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}"#, r#"result 1 {"a":[1]}"#),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null"),
        (r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no"}}"#, r#"error "a" -32601 no"#),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"n","data":{ }}}"#, "error 1 1 n { }"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"n","data":null,"x":1}}"#, "error 1 1 n"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#, "result 1 {}"),
        (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"n"}}"#, "error 1 1 n"),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"n"}}"#, "error null -32700 n"),
        (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"n"}}"#, "error null -32700 n"),
    ]);
}

#[test]
fn a_refused_response_names_the_call_that_failed_and_is_no_request() {
    let no_error = "bad response 1: error must have an integer code and a message";
    check(&[
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"n"}}"#,
            "bad response 1: a message has one of method, result and error",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, no_error),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, no_error),
        (r#"{"jsonrpc":"2.0","id":1,"error":[1,"no",null]}"#, no_error),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, no_error),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"n"}}"#, no_error),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}"#, no_error),
        (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, r#"bad response 1: jsonrpc must be "2.0""#),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "bad response without id: id must be a string or an integer"),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "bad response without id: id must be a string or an integer"),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":"n"}}"#,
            "bad response without id: id must be a string or an integer",
        ),
    ]);
}

#[test]
fn frames_that_the_scan_refuses_are_parse_errors() {
    check(&[
        ("", "not json: the document is empty"),
        (r#"{"jsonrpc":"2.0","method":"a","method":"b"}"#, r#"not json: duplicate key "method" at byte 30"#),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"x","n\u0061me":"y"}}"#,
            r#"not json: duplicate key "name" at byte 58"#,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, "not json: lone surrogate at byte 34"),
        ("\u{feff}{}", "not json: the document starts with a byte order mark"),
        ("{\"a\":\0}", "not json: expected a value at byte 5"),
    ]);
}

#[test]
fn every_refusal_has_its_code() {
    let rows = [
        ("{", -32_700, "parse error: expected a key at byte 1"),
        ("[]", -32_600, "invalid request: a batch is not accepted here"),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32_600, "invalid request: method must be a string"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":1}"#,
            -32_602,
            "invalid params: params must be an object or an array",
        ),
    ];

    for (frame, code, message) in rows {
        let refusal = decode(frame.as_bytes(), IdRule::Mcp).unwrap_err();
        assert_eq!(refusal.to_error_object(), ErrorObject::new(code, message), "{frame}");
    }
}

#[test]
fn a_batch_is_known_by_its_bracket() {
    for (frame, expected) in [("[]", true), (" \r\n\t[", true), ("{}", false), ("", false), ("\"[\"", false)] {
        assert_eq!(is_batch(frame.as_bytes()), expected, "{frame}");
    }
}

#[test]
fn each_message_of_a_batch_is_judged_for_itself() {
    let frame = r#" [ {"jsonrpc":"2.0","id":1,"method":"a"}, 7, [], [{"jsonrpc":"2.0","id":1,"method":"a"}],
        {"jsonrpc":"2.0","method":"n"}, {"jsonrpc":"2.0","id":2,"result":{}}, {"id":3,"method":"b"} ] "#;

    let batch = decode_batch(frame.as_bytes(), IdRule::Mcp, 7).unwrap();

    assert_eq!(
        batch.iter().map(tell).collect::<Vec<_>>(),
        [
            "request 1 a",
            "bad request without id: a message must be an object",
            "bad request without id: a batch is not accepted here",
            "bad request without id: a batch is not accepted here",
            "notification n",
            "result 2 {}",
            r#"bad request 3: jsonrpc must be "2.0""#,
        ]
    );
}

#[test]
fn empty_long_and_broken_batches_are_refused_whole() {
    let long = format!("[{}]", vec![r#"{"jsonrpc":"2.0","method":"n"}"#; 10_000].join(","));
    let rows = [
        ("[]", RpcError::BadRequest { id: None, fault: Fault::EmptyBatch }),
        (&long, RpcError::BadRequest { id: None, fault: Fault::LongBatch { max: 50 } }),
        ("{}", RpcError::BadRequest { id: None, fault: Fault::NotABatch }),
        ("[1,]", RpcError::NotJson(crate::scan::ScanError::Syntax { offset: 3, expected: "a value" })),
    ];

    for (frame, refusal) in rows {
        assert_eq!(decode_batch(frame.as_bytes(), IdRule::Mcp, 50).unwrap_err(), refusal);
    }
}

#[test]
fn frames_are_written_as_the_specification_shows_them() {
    let params = to_raw_value(&json!({ "a": 1 })).unwrap();
    let id = Id::String("x".to_owned());
    let error = ErrorObject::method_not_found("foo").with_data(&json!({ "b": 2 }));
    let rows = [
        (
            encode_request(&Id::Number(1), "m", Some(&params)),
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#,
        ),
        (encode_request(&Id::Null, "m", None), r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#),
        (encode_notification("n", None), r#"{"jsonrpc":"2.0","method":"n"}"#),
        (encode_notification("n", Some(&params)), r#"{"jsonrpc":"2.0","method":"n","params":{"a":1}}"#),
        (encode_result(&id, &*params), r#"{"jsonrpc":"2.0","id":"x","result":{"a":1}}"#),
        (encode_result(&id, &json!(null)), r#"{"jsonrpc":"2.0","id":"x","result":null}"#),
        (
            encode_error(Some(&id), &error),
            r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"method not found: foo","data":{"b":2}}}"#,
        ),
        (
            encode_error(None, &ErrorObject::internal_error()),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}"#,
        ),
    ];

    for (frame, expected) in rows {
        assert_eq!(String::from_utf8(frame).unwrap(), expected);
    }
}

#[test]
fn relayed_line_breaks_do_not_end_the_frame() {
    let smuggled = "{\"text\":\"a\\nb\",\r\n\"x\":\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\"}\n}";
    let params = RawValue::from_string(smuggled.to_owned()).unwrap();

    for frame in [encode_request(&Id::Number(1), "m", Some(&params)), encode_result(&Id::Number(1), &params)] {
        let frame = String::from_utf8(frame).unwrap();
        assert!(frame.contains(&smuggled.replace(['\r', '\n'], " ")), "{frame}");
        assert!(!frame.contains(['\r', '\n']), "{frame}");
    }
}

#[test]
fn a_result_that_cannot_be_written_is_an_internal_error_under_the_same_id() {
    let keys_must_be_strings = BTreeMap::from([(vec![1], 1)]);

    let frame = encode_result(&Id::Number(4), &keys_must_be_strings);

    assert_eq!(frame, encode_error(Some(&Id::Number(4)), &ErrorObject::internal_error()));
}

fn any_id() -> impl Strategy<Value = Id> {
    prop_oneof![any::<i64>().prop_map(Id::Number), any::<String>().prop_map(Id::String), Just(Id::Null)]
}

fn any_params() -> impl Strategy<Value = Option<Box<RawValue>>> {
    let text = select(vec!["{}", "[]", "[ 1,\n2 ]", r#"{"a":{"b":"\n"},"c":1e400}"#, "{\r\n}"]);
    proptest::option::of(text.prop_map(|text| RawValue::from_string(text.to_owned()).unwrap()))
}

/// Members that are right, wrong and missing, in any order and number.
fn any_envelope() -> impl Strategy<Value = String> {
    let right =
        r#""jsonrpc":"2.0" "id":1 "id":"a" "method":"m" "params":{} "result":{} "error":{"code":1,"message":"m"}"#;
    let odd =
        r#""jsonrpc":"1.0" "id":null "id":1.5 "id":{} "method":"\u006d\n" "method":1 "Method":"m" "params":null "#;
    let worse = r#""result":null "error":null "error":[1,"m"] "error":{"code":1,"message":"m","data":[]}"#;
    let members = [right, right, odd, worse].into_iter().flat_map(str::split_whitespace);
    let member = select(members.chain(["\"params\":[\n1]"]).collect::<Vec<_>>());
    vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn requests_survive_a_round_trip(id in any_id(), method in any::<String>(), params in any_params()) {
        let frame = encode_request(&id, &method, params.as_deref());

        let one_line = params.as_deref().map(|raw| format!(" {}", raw.get().replace(['\n', '\r'], " ")));
        let expected = format!("request {id} {method}{}", one_line.unwrap_or_default());
        prop_assert_eq!(tell(&decode(&frame, IdRule::A2a)), expected);
    }

    #[test]
    fn errors_survive_a_round_trip(
        id in any_id(), code in any::<i64>(), message in any::<String>(), data in any::<Option<Vec<u8>>>(),
    ) {
        let error = ErrorObject::new(code, message);
        let error = if let Some(data) = data { error.with_data(&data) } else { error };

        let frame = encode_error(Some(&id), &error);

        match decode(&frame, IdRule::Mcp) {
            Ok(Incoming::Response { id: read, outcome: Err(told) }) => prop_assert_eq!((read, told), (id, error)),
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn any_envelope_is_decoded_or_refused_with_an_answer(envelope in any_envelope()) {
        decoding_is_total_and_encoding_undoes_it(envelope.as_bytes());
    }

    #[test]
    fn any_batch_is_decoded_or_refused_with_an_answer(envelopes in vec(any_envelope(), 0..6)) {
        decoding_is_total_and_encoding_undoes_it(format!("[{}]", envelopes.join(",")).as_bytes());
    }

    #[test]
    fn arbitrary_bytes_are_decoded_or_refused_with_an_answer(bytes in vec(any::<u8>(), 0..64)) {
        decoding_is_total_and_encoding_undoes_it(&bytes);
    }
}

#[test]
fn a_batch_is_counted_as_it_is_read() {
    let many = format!("[{}]", vec!["{}"; 100].join(","));
    for (frame, count) in [
        ("[]", 0),
        (" [ ] ", 0),
        ("[{}]", 1),
        ("[1]", 1),
        (r#" [ {"a": [1, 2, {"b": 3}], "c": "d"} , {} ]"#, 2),
        (r#"[{"a": ",]\\\",\\"}, [[],[]], "x,y", null]"#, 4),
        (&many, 100),
    ] {
        assert_eq!(count_batch(frame.as_bytes(), 100), count, "{frame}");
        let read = decode_batch(frame.as_bytes(), IdRule::Mcp, 100);
        assert_eq!(read.map_or(0, |messages| messages.len()), count, "{frame}");
    }
    let more = format!("[{}]", vec!["{}"; 1_000].join(","));
    assert_eq!(count_batch(more.as_bytes(), 100), 101);
}
