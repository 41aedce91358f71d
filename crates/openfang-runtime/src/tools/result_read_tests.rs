//! Pieces of a text, by characters.

use super::*;

#[test]
fn pieces_of_any_size_are_the_whole_text() {
    let text = "a\u{e4}\u{1f980}\n".repeat(25);
    for size in [1, 7, 99, 100, 101] {
        let (mut read, mut offset) = (String::new(), 0);
        loop {
            let piece = Piece::of(&text, offset, size);
            read.push_str(piece.text);
            assert_eq!((piece.begin, piece.all), (offset, 100));
            offset = piece.end;
            if offset == piece.all {
                break;
            }
        }
        assert_eq!(read, text, "{size}");
    }
}

#[test]
fn an_offset_behind_the_end_reads_nothing_and_says_so() {
    for offset in [3, 4, usize::MAX] {
        let piece = Piece::of("abc", offset, usize::MAX);

        assert_eq!(piece.text, "");
        let note = piece.note(&"00000000-0000-4000-8000-000000000000".parse().unwrap());
        assert_eq!(note, "[characters 3 to 3 of 3; this is the end]");
    }
}
