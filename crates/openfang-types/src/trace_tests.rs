//! What is read as a `traceparent`, and that ours are read back.

use super::*;

#[test]
fn the_example_of_the_specification_is_read() {
    let read = read_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();

    assert_eq!(read.parent, SpanId(0x00f0_67aa_0ba9_02b7));
    assert_eq!(read.trace.as_uuid().simple().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
}

#[test]
fn what_is_written_is_read_back() {
    let rows = [
        ((7, 0), "00-00000000000000000000000000000007-0000000000000001-01"),
        ((0x1234 << 64, 0xabc), "00-00000000000012340000000000000000-0000000000000abc-01"),
    ];
    for ((trace, span), text) in rows {
        let trace = TraceId::from_uuid(Uuid::from_u128(trace));
        let own = TraceParent { trace, parent: SpanId::of_number(span) };

        assert_eq!(write_traceparent(own), text);
        assert_eq!(read_traceparent(text), Some(own));
    }
}

#[test]
fn the_hops_in_a_tracestate_are_found_among_the_members_of_others() {
    assert_eq!(read_tracestate(&write_tracestate(3)), Some(3));
    assert_eq!(read_tracestate("rojo=00f067aa0ba902b7, openfang=2,congo=t61rcWkgMzE"), Some(2));
    for other in ["", "openfang", "openfang=", "openfang=-1", "openfang=300", "openfangs=2", "x=openfang=2"] {
        assert_eq!(read_tracestate(other), None, "{other}");
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
