//! The decoder, fed in every way a body can be cut.

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::*;

const TEXT: &[u8] = b"a text that is worth compressing: a text, a text, a text, and some numbers 0123456789";

fn encoded() -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
    for encoder in [&mut gzip as &mut dyn io::Write, &mut zlib, &mut bare] {
        encoder.write_all(TEXT).unwrap();
    }
    let gzip = gzip.finish().unwrap();
    let two_members = gzip.repeat(2);
    vec![
        ("gzip", gzip),
        ("gzip", two_members),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", bare.finish().unwrap()),
        ("identity", TEXT.to_vec()),
    ]
}

fn decoder(encoding: &str) -> Decoder {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_ENCODING, encoding.parse().unwrap());
    Decoder::of(&headers).unwrap()
}

/// Feeds one piece after the other, each when the one before is used up.
fn decoded(encoding: &str, pieces: &[&[u8]]) -> Result<Vec<u8>, Corrupt> {
    let mut decoder = decoder(encoding);
    let mut pieces = pieces.iter();
    let mut whole = Vec::new();
    loop {
        match decoder.pull()? {
            Step::Bytes(bytes) => whole.extend_from_slice(&bytes),
            Step::Hungry => match pieces.next() {
                Some(piece) => decoder.feed(Bytes::copy_from_slice(piece)),
                None => decoder.end(),
            },
            Step::End => return Ok(whole),
        }
    }
}

#[test]
fn every_cut_gives_the_same_text() {
    for (encoding, bytes) in encoded() {
        let whole = decoded(encoding, &[&bytes]).unwrap();
        assert!(whole == TEXT || whole == TEXT.repeat(2), "{encoding}");
        for at in 0..=bytes.len() {
            let (left, right) = bytes.split_at(at);

            assert_eq!(decoded(encoding, &[left, right]).as_ref(), Ok(&whole), "{encoding} cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decoded(encoding, &single), Ok(whole), "{encoding} in single bytes");
    }
}

#[test]
fn every_end_before_the_end_is_damage() {
    for (encoding, bytes) in encoded().into_iter().filter(|(encoding, _)| *encoding != "identity") {
        let half = bytes.len() / 2;
        for end in 1..bytes.len() {
            // Two members cut between them are one.
            let is_whole = encoding == "gzip" && end == half && bytes[..half] == bytes[half..];

            assert_eq!(decoded(encoding, &[&bytes[..end]]).is_ok(), is_whole, "{encoding} ends at {end}");
        }
    }
}
