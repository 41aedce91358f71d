//! Streams that are cut anywhere, or arrive in any pieces.

use proptest::prelude::*;

use super::samples::{Sample, samples};
use super::{read, read_chunks};
use crate::answer::{ModelAnswer, Usage};
use crate::wire::{WireFault, WireKind};

/// Everything that counts in an answer.
fn content(answer: &ModelAnswer) -> String {
    format!("{:?} {:?} {:?}", answer.blocks, answer.native, answer.stop)
}

#[test]
fn a_stream_cut_at_any_byte_is_the_same_answer_or_an_error() {
    for Sample { name, wire, bytes, .. } in samples() {
        let whole = read(wire, &bytes).unwrap();
        let mut last_error = 0;
        for end in 0..bytes.len() {
            match read(wire, &bytes[..end]) {
                Err(WireFault::Cut | WireFault::Malformed { .. } | WireFault::NotAnAnswer { .. }) => last_error = end,
                Err(other) => panic!("{wire} {name} cut at {end}: {other}"),
                Ok(answer) => {
                    assert_eq!(content(&answer), content(&whole), "{wire} {name} cut at {end}");
                    // Only the chat wire sends its usage behind the end of the content.
                    let may_lack_usage = wire == WireKind::Chat && answer.usage == Usage::default();
                    assert!(may_lack_usage || answer.usage == whole.usage, "{wire} {name} cut at {end}");
                }
            }
        }
        assert!(last_error > bytes.len() / 2, "{wire} {name}: the end comes at the end, not at {last_error}");
    }
}

#[test]
fn bytes_that_come_one_by_one_are_the_same_answer() {
    for Sample { name, wire, bytes, .. } in samples() {
        let whole = read(wire, &bytes).unwrap();
        let split = read_chunks(wire, bytes.chunks(1)).unwrap();
        assert_eq!(content(&split), content(&whole), "{wire} {name}");
        assert_eq!(split.usage, whole.usage, "{wire} {name}");
    }
}

#[test]
fn line_ends_comments_and_blank_lines_do_not_matter() {
    for Sample { name, wire, bytes, .. } in samples() {
        let whole = read(wire, &bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let plain = text.replace("\r\n", "\n");
        let mut variants = vec![plain.clone(), plain.replace('\n', "\r\n")];
        if wire == WireKind::Ollama {
            variants.push(plain.replace('\n', "\n\n"));
            variants.push(plain.trim_end().to_owned());
        } else {
            variants.push(plain.replace("data: ", ": keep-alive\ndata:"));
            variants.push(plain.replace("\n\n", "\n\n: processing\n\n"));
        }
        for variant in variants {
            let answer = read(wire, variant.as_bytes()).unwrap_or_else(|fault| panic!("{wire} {name}: {fault}"));
            assert_eq!(content(&answer), content(&whole), "{wire} {name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_split_of_the_bytes_is_the_same_answer(cuts in prop::collection::vec(0.0_f64..1.0, 0..12), which in 0_usize..1_000) {
        let samples = samples();
        let Sample { name, wire, bytes, .. } = &samples[which % samples.len()];
        let mut places: Vec<usize> = cuts.iter().map(|cut| (cut * bytes.len() as f64) as usize).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let chunks = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);

        let split = read_chunks(*wire, chunks).unwrap();

        prop_assert_eq!(content(&split), content(&read(*wire, bytes).unwrap()), "{} {}", wire, name);
    }

    #[test]
    fn damaged_bytes_never_panic_and_never_make_calls_of_a_cut_answer(
        place in 0.0_f64..1.0, byte in any::<u8>(), which in 0_usize..1_000, is_removed in any::<bool>(),
    ) {
        let samples = samples();
        let Sample { wire, bytes, .. } = &samples[which % samples.len()];
        let mut damaged = bytes.clone();
        let at = (place * (bytes.len() - 1) as f64) as usize;
        if is_removed { damaged.remove(at); } else { damaged[at] = byte; }

        if let Ok(answer) = read(*wire, &damaged) {
            prop_assert!(answer.runnable_calls().count() <= 2);
        }
    }

    #[test]
    fn arbitrary_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        for wire in WireKind::ALL {
            prop_assert!(read(wire, &bytes).is_err());
        }
    }
}
