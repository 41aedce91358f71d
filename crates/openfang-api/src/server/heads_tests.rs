//! What passes and what does not, in one piece and byte by byte.

use super::*;

/// Where the bytes are refused, however they come.
fn refused(bytes: &[u8]) -> Option<usize> {
    let whole = Heads::new().read(bytes).err().map(|refused| refused.at);
    let mut heads = Heads::new();
    let single = bytes.iter().position(|byte| heads.read(&[*byte]).is_err());
    assert_eq!(whole, single, "{:?}", String::from_utf8_lossy(bytes));
    whole
}

#[test]
fn plain_requests_pass_one_after_the_other() {
    let requests = [
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\nb\nc",
        "\r\nPOST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n3;x=\"y\"\r\na\nb\r\n00A\r\n0123456789\r\n0\r\nx: y\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length:0\r\n\r\n",
        &format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(1_000)),
    ];
    let all = requests.concat();

    assert_eq!(refused([all.as_bytes(), all.as_bytes()].concat().as_slice()), None);
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let heads = [
        "GET / HTTP/1.1\nhost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\n\n",
        "\nGET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 1, 1\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: +1\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 0x1\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length:\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: identity, chunked\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked, chunked\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
    ];
    for head in heads {
        assert!(refused(head.as_bytes()).is_some(), "{head:?}");
    }
    let padded = format!("POST / HTTP/1.1\r\ntransfer-encoding: {}chunked\r\n\r\n", " ".repeat(100));
    assert!(refused(padded.as_bytes()).is_some());
    let broken = format!("GET / HTTP/1.1\r\nx: {}\n\r\n", "y".repeat(1_000));
    assert!(refused(broken.as_bytes()).is_some());
}

#[test]
fn it_is_known_whether_a_body_is_still_to_come() {
    let mut heads = Heads::new();
    let mut after = |bytes: &str| {
        heads.read(bytes.as_bytes()).unwrap();
        heads.is_within_a_body()
    };

    assert!(!after("POST / HTTP/1.1\r\ncontent-length: 3\r\n"));
    assert!(after("\r\n"));
    assert!(after("ab"));
    assert!(!after("c"));
    assert!(after("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"));
    assert!(!after("\r\n"));
}
