//! Compressed answers, honest and not.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use crate::http::{Caps, HttpError};

use super::peer::{Peer, World, answer};

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn bare(data: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Text that compresses well, but not suspiciously so.
fn text() -> Vec<u8> {
    (0..20_000_u32)
        .flat_map(|number| format!("{} ", number.wrapping_mul(2_654_435_761)).into_bytes())
        .collect()
}

async fn decoded(encoding: &str, body: &[u8], caps: Caps) -> Result<Bytes, HttpError> {
    let peer = Peer::saying(answer(200, &format!("content-encoding: {encoding}\r\n"), body));
    let world = World::new(&[]);
    world.whole(world.operator(&peer.url("/")).caps(caps)).await
}

#[tokio::test]
async fn gzip_and_both_kinds_of_deflate_are_decoded() {
    let text = text();
    let members = [gzip(&text[..1_000]), gzip(b""), gzip(&text[1_000..])].concat();
    for (encoding, body) in
        [("gzip", gzip(&text)), ("X-GZIP", members), ("deflate", zlib(&text)), ("deflate", bare(&text))]
    {
        let found = decoded(encoding, &body, Caps::default()).await.unwrap();

        assert!(found == text, "{encoding}: {} bytes", found.len());
    }
}

#[tokio::test]
async fn what_decodes_beyond_the_cap_is_too_large() {
    let text = text();
    let caps = Caps { decoded_bytes: 100_000, ratio: u64::MAX };
    for (encoding, body) in [("gzip", gzip(&text)), ("deflate", zlib(&text)), ("identity", text.clone())] {
        let error = decoded(encoding, &body, caps).await.unwrap_err();

        assert!(matches!(error, HttpError::TooLarge { limit: 100_000, .. }), "{encoding}: {error:?}");
    }
}

/// A gibibyte of zeros, as gzip: many members of the same one, so that it is made quickly.
fn bomb() -> Vec<u8> {
    gzip(&vec![0; 16 * 1024 * 1024]).repeat(64)
}

#[tokio::test]
async fn a_bomb_is_defused_step_by_step() {
    let peer = Peer::saying(answer(200, "content-encoding: gzip\r\n", &bomb()));
    let world = World::new(&[]);
    let caps = Caps { decoded_bytes: u64::MAX, ratio: 100 };
    let mut body = world.send(world.operator(&peer.url("/")).caps(caps)).await.unwrap().body;
    let mut taken = 0;

    let error = loop {
        match body.chunk().await {
            Ok(chunk) => {
                let chunk = chunk.expect("a bomb has no end");
                assert!(chunk.len() <= 16 * 1024, "{}", chunk.len());
                taken += chunk.len();
            }
            Err(error) => break error,
        }
    };

    assert!(matches!(error, HttpError::Bomb { ratio: 100, .. }), "{error:?}");
    assert!(taken < 64 * 1024 * 1024, "{taken} of a gibibyte");
}

#[tokio::test]
async fn a_small_body_may_compress_as_well_as_it_can() {
    let zeros = vec![0; 60_000];

    assert_eq!(decoded("gzip", &gzip(&zeros), Caps::default()).await.unwrap(), zeros);
}

#[tokio::test]
async fn what_decodes_to_nothing_is_limited_too() {
    let nothing = gzip(b"").repeat(10_000);
    let caps = Caps { decoded_bytes: 1_000, ratio: 100 };

    let error = decoded("gzip", &nothing, caps).await.unwrap_err();

    assert!(matches!(error, HttpError::TooLarge { limit: 1_000, .. }), "{error:?}");
}

#[tokio::test]
async fn what_is_cut_changed_or_followed_by_something_else_is_damaged() {
    let text = text();
    for (encoding, whole) in [("gzip", gzip(&text)), ("deflate", zlib(&text)), ("deflate", bare(&text))] {
        let cut = whole[..whole.len() - 1].to_vec();
        let followed = [whole.as_slice(), b"garbage"].concat();
        let first_byte = whole[..1].to_vec();
        for (what, body) in [("cut", cut), ("followed", followed), ("first byte", first_byte)] {
            let error = decoded(encoding, &body, Caps::default()).await.unwrap_err();

            assert!(matches!(error, HttpError::Corrupt { .. }), "{encoding} {what}: {error:?}");
        }
    }
    let mut changed = gzip(&text);
    let middle = changed.len() / 2;
    changed[middle] ^= 0xff;
    for (encoding, body) in [("gzip", changed), ("gzip", b"plain text".to_vec()), ("deflate", vec![0xff; 100])] {
        let error = decoded(encoding, &body, Caps::default()).await.unwrap_err();

        assert!(matches!(error, HttpError::Corrupt { .. }), "{encoding}: {error:?}");
    }
}
