//! The floor answers what was recorded, to what it can read.

use super::*;
use crate::load;

fn answer() -> Answer {
    let headers = [("content-type", "application/json"), ("x-trace", "1"), ("date", "today"), ("content-length", "12")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Answer::recorded(200, headers, br#"{"result":10}"#).unwrap()
}

async fn ask(body: &str) -> (crate::wire::Head, Bytes) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let request = format!("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());

    tokio::select! {
        answer = load::once(&address, request.as_bytes()) => answer.unwrap(),
        _ = serve(listener, answer().response().unwrap()) => unreachable!("the floor serves until it is dropped"),
    }
}

#[tokio::test]
async fn the_recorded_answer_comes_back_with_its_headers() {
    let (head, body) = ask(r#"{"arguments":{"a":3,"b":7}}"#).await;

    assert_eq!((head.status, &body[..]), (200, &br#"{"result":10}"#[..]));
    let names: Vec<&str> = head.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["content-type", "x-trace", "content-length", "date"]);
}

#[tokio::test]
async fn a_body_that_is_no_call_is_refused() {
    for body in ["", "{", r#"{"a":1}"#] {
        assert_eq!(ask(body).await.0.status, 400, "{body}");
    }
}
