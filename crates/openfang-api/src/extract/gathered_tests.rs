//! Bodies in pieces of every size.

use bytes::Bytes;
use openfang_types::limits::OWN_PAGES_FROM_BYTES;

use super::Gathered;

/// A body of this length, in pieces of that length.
fn gathered(length: usize, piece: usize, declared: usize) -> (Vec<u8>, Gathered) {
    let sent: Vec<u8> = (0_u8..251).cycle().take(length).collect();
    let mut read = Gathered::new();
    sent.chunks(piece)
        .for_each(|piece| read.add(Bytes::copy_from_slice(piece), declared).unwrap());
    (sent, read)
}

#[test]
fn a_body_is_what_was_sent_whatever_its_length_and_its_pieces() {
    for length in [0, 1, 4_000, OWN_PAGES_FROM_BYTES - 1, OWN_PAGES_FROM_BYTES, 3 * OWN_PAGES_FROM_BYTES + 7] {
        for piece in [4_096, 60_000, 10_000_000] {
            for declared in [0, length, 2 * length] {
                let (sent, read) = gathered(length, piece, declared);
                assert_eq!(read.len(), length);
                assert!(read.into_bytes() == sent, "{length} bytes in pieces of {piece}, declared as {declared}");
            }
        }
    }
}

#[test]
fn a_large_body_lies_in_pages_of_its_own() {
    let (_, small) = gathered(10_000, 4_096, 10_000);
    assert!(matches!(small, Gathered::Small(_)));
    let length = 2 * OWN_PAGES_FROM_BYTES;
    for declared in [0, length] {
        assert!(matches!(gathered(length, 16_384, declared).1, Gathered::Large { .. }));
    }
}

#[test]
fn a_single_piece_is_passed_on_without_copying() {
    let piece = Bytes::from(vec![1; 2 * OWN_PAGES_FROM_BYTES]);
    let mut read = Gathered::new();
    read.add(piece.clone(), piece.len()).unwrap();
    assert_eq!(read.into_bytes().as_ptr(), piece.as_ptr());
}
