//! What is read of headers, and what of damaged, huge and false ones.

use super::facts_of;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

fn gif() -> Vec<u8> {
    b"GIF89a\x03\x00\x02\x00\x00\x00\x00;".to_vec()
}

#[test]
fn the_content_decides_what_an_image_is() {
    let read = |bytes: &[u8]| facts_of("x.txt", bytes).map(|facts| (facts.media_type, facts.width, facts.height));
    assert_eq!(read(&png(640, 480)).unwrap(), ("image/png", 640, 480));
    assert_eq!(read(&gif()).unwrap(), ("image/gif", 3, 2));
    // A script behind a header is still an image: nothing runs it.
    let polyglot = [gif(), b"<script>alert(1)</script>".to_vec()].concat();
    assert_eq!(read(&polyglot).unwrap(), ("image/gif", 3, 2));
}

#[test]
fn a_header_may_claim_any_size_because_nothing_is_decoded() {
    let facts = facts_of("x.png", &png(u32::MAX, u32::MAX)).unwrap();
    assert_eq!((facts.width, facts.height), (4_294_967_295, 4_294_967_295));
}

#[test]
fn what_is_no_image_is_refused_and_never_a_panic() {
    for bytes in [
        &b""[..],
        b"\x89",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"BM\0\0\0\0",
        b"%PDF-1.4",
        b"II*\0",
        b"\0\0\0\x18ftypheic",
    ] {
        assert!(facts_of("x", bytes).is_err(), "{bytes:?}");
    }
    let (png, gif) = (png(1, 1), gif());
    for whole in [
        &png[..],
        &gif,
        b"\xff\xd8\xff\xe0\x00\x10JFIF\xff\xff\xff\xff",
        b"RIFF\xff\xff\xff\xffWEBPVP8L\xff\xff\xff\xff",
    ] {
        for end in 0..whole.len() {
            let _ = facts_of("x", &whole[..end]);
        }
    }
    proptest::proptest!(|(rest in proptest::collection::vec(proptest::num::u8::ANY, 0..200), kind in 0_usize..4)| {
        let heads: [&[u8]; 4] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8"];
        let _ = facts_of("x", &[heads[kind], &rest].concat());
    });
}
