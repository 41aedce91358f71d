//! What is kept of the lines of a server.

use super::*;

#[test]
fn the_last_lines_are_kept_up_to_a_number_and_to_a_size() {
    let mut short = LastLines::default();
    for number in 0..MCP_SERVER_LOG_LINES + 5 {
        short.push(number.to_string());
    }
    assert_eq!((short.lines.len(), short.lines[0].as_str()), (MCP_SERVER_LOG_LINES, "5"));

    let mut long = LastLines::default();
    for _ in 0..MCP_SERVER_LOG_LINES {
        long.push("x".repeat(8 * 1024));
    }
    assert_eq!(long.lines.len(), MCP_SERVER_LOG_BYTES / (8 * 1024));
    assert_eq!(long.bytes, long.lines.iter().map(String::len).sum::<usize>());
}

#[test]
fn a_line_that_is_larger_than_all_room_is_kept_alone() {
    let mut lines = LastLines::default();
    lines.push("before".to_owned());
    lines.push("x".repeat(MCP_SERVER_LOG_BYTES + 1));

    assert_eq!(lines.lines.len(), 1);
}
