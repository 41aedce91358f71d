//! What is kept of an output, however it comes.

use super::*;

fn ends(bytes: &[u8], chunk: usize, limit: usize) -> OutputEnds {
    let mut ends = OutputEnds::new(limit);
    bytes.chunks(chunk).for_each(|piece| ends.push(piece));
    ends
}

#[test]
fn a_short_output_is_whole() {
    for chunk in 1..12 {
        let kept = ends(b"0123456789", chunk, 10);

        assert_eq!((kept.text().as_str(), kept.written(), kept.left_out()), ("0123456789", 10, 0));
    }
}

#[test]
fn of_a_long_output_the_beginning_and_the_end_are_kept() {
    for chunk in [1, 3, 7, 64, 1_000] {
        let text: Vec<u8> = (0..1_000).map(|index| b'a' + u8::try_from(index % 26).unwrap()).collect();

        let kept = ends(&text, chunk, 20);

        let expected = format!(
            "{}\n[980 bytes left out]\n{}",
            String::from_utf8_lossy(&text[..10]),
            String::from_utf8_lossy(&text[990..])
        );
        assert_eq!((kept.text(), kept.written()), (expected, 1_000), "{chunk}");
    }
}

#[test]
fn memory_does_not_grow_with_the_output() {
    let mut kept = OutputEnds::new(1_000);
    for _ in 0..10_000 {
        kept.push(&[0xff; 999]);
    }

    assert_eq!((kept.head.len(), kept.tail.len(), kept.written()), (500, 500, 9_990_000));
    assert!(kept.tail.capacity() <= 4_096, "{}", kept.tail.capacity());
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    assert_eq!(ends(b"a\xff\0b", 1, 100).text(), "a\u{fffd}\0b");
}
