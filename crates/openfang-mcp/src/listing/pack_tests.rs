//! What is packed comes out as it went in.

use super::*;

#[test]
fn every_entry_comes_out_as_it_went_in_whatever_block_it_is_in_and_in_whatever_order_they_are_read() {
    let text = |number: usize| format!("{{\"name\":\"t{number}\",\"says\":\"{}\"}}", "ä tool ".repeat(number % 300));
    let mut pack = Pack::default();
    for number in 0..500 {
        pack.push(&format!("t{number}"), &text(number)).unwrap();
    }
    let huge = "x".repeat(5 * MCP_PACK_BLOCK_BYTES);
    pack.push("huge", &huge).unwrap();
    pack.push("last", "{}").unwrap();
    let pack = pack.close();

    assert!(pack.blocks.len() > 10, "{}", pack.blocks.len());
    for number in (0..500).chain((0..500).rev()).chain((0..500).map(|number| number * 7 % 500)) {
        assert_eq!((pack.name(number), &*pack.json(number)), (&*format!("t{number}"), &*text(number)));
    }
    assert_eq!((pack.name(500), &*pack.json(500)), ("huge", &*huge));
    assert_eq!((pack.name(501), &*pack.json(501)), ("last", "{}"));
    assert_eq!((pack.len(), pack.name(502), &*pack.json(502)), (502, "", "null"));
}

#[test]
fn a_short_list_is_held_as_it_is_and_a_long_one_takes_a_fraction_of_its_length() {
    let tool = |number: usize| {
        format!(
            "{{\"name\":\"t{number}\",\"description\":\"Looks up record {number}.\",\"inputSchema\":{{\"type\":\"object\",\
             \"properties\":{{\"text\":{{\"type\":\"string\"}},\"limit\":{{\"type\":\"integer\"}}}}}}}}"
        )
    };
    let (mut short, mut long, mut bytes) = (Pack::default(), Pack::default(), 0);
    for number in 0..20 {
        short.push("t", &tool(number)).unwrap();
    }
    for number in 0..2_000 {
        bytes += tool(number).len();
        long.push("t", &tool(number)).unwrap();
    }

    assert!(short.blocks.is_empty() && matches!(short.json(19), Cow::Borrowed(_)));
    let held: usize = long.blocks.iter().map(|block| block.len()).sum::<usize>() + long.open.len();
    assert!(held < bytes / 3, "{held} of {bytes}");
}
