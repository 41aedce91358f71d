//! What is read as a `traceparent`, and that ours are read back.

use super::*;

#[test]
fn the_example_of_the_specification_is_read() {
    let trace = read_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();

    assert_eq!(trace.as_uuid().simple().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
}

#[test]
fn what_is_written_is_read_back() {
    let rows = [
        (7, "00-00000000000000000000000000000007-0000000000000007-01"),
        (0x1234 << 64, "00-00000000000012340000000000000000-0000000000001234-01"),
    ];
    for (number, text) in rows {
        let trace = TraceId::from_uuid(Uuid::from_u128(number));

        assert_eq!(write_traceparent(trace), text);
        assert_eq!(read_traceparent(text), Some(trace));
    }
}

#[test]
fn anything_else_is_no_trace() {
    for text in [
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
    ] {
        assert_eq!(read_traceparent(text), None, "{text}");
    }
    assert!(read_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").is_some());
}
