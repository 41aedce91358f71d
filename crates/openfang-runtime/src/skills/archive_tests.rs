//! Archives as programs write them, and as somebody would write them who means harm.

use std::io::Write as _;

use flate2::Compression;
use flate2::Crc;
use flate2::write::DeflateEncoder;
use proptest::prelude::*;

use super::{ArchiveError, unpack};

/// An entry of an archive to be written.
#[derive(Clone)]
struct Packed {
    name: &'static str,
    bytes: Vec<u8>,
    mode: u32,
    is_deflated: bool,
    /// What is said of it instead of what is true.
    said_size: Option<u32>,
    local_name: Option<&'static str>,
    flags: u16,
}

fn file(name: &'static str, text: &str) -> Packed {
    let bytes = text.as_bytes().to_vec();
    Packed { name, bytes, mode: 0o100_644, is_deflated: true, said_size: None, local_name: None, flags: 0 }
}

fn zip(entries: &[Packed]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let mut crc = Crc::new();
        crc.update(&entry.bytes);
        let packed = if entry.is_deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&entry.bytes).unwrap();
            encoder.finish().unwrap()
        } else {
            entry.bytes.clone()
        };
        let method: u16 = if entry.is_deflated { 8 } else { 0 };
        let size = entry.said_size.unwrap_or_else(|| u32::try_from(entry.bytes.len()).unwrap());
        let packed_size = u32::try_from(packed.len()).unwrap();
        let offset = u32::try_from(archive.len()).unwrap();
        let local = entry.local_name.unwrap_or(entry.name);
        let common = |name: &str| -> Vec<u8> {
            let mut bytes = Vec::new();
            for value in [20, entry.flags, method, 0, 0] {
                bytes.extend(u16::to_le_bytes(value));
            }
            for value in [crc.sum(), packed_size, size] {
                bytes.extend(u32::to_le_bytes(value));
            }
            bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
            bytes.extend(0_u16.to_le_bytes());
            bytes
        };
        archive.extend(0x0403_4b50_u32.to_le_bytes());
        archive.extend(common(local));
        archive.extend(local.as_bytes());
        archive.extend(&packed);
        directory.extend(0x0201_4b50_u32.to_le_bytes());
        directory.extend((3_u16 << 8 | 20).to_le_bytes());
        directory.extend(common(entry.name));
        directory.extend([0; 6]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(entry.name.as_bytes());
    }
    let count = u16::try_from(entries.len()).unwrap();
    end(archive, &directory, count)
}

fn end(mut archive: Vec<u8>, directory: &[u8], count: u16) -> Vec<u8> {
    let at = u32::try_from(archive.len()).unwrap();
    archive.extend(directory);
    archive.extend(0x0605_4b50_u32.to_le_bytes());
    archive.extend([0; 4]);
    archive.extend(count.to_le_bytes());
    archive.extend(count.to_le_bytes());
    archive.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    archive.extend(at.to_le_bytes());
    archive.extend(0_u16.to_le_bytes());
    archive
}

fn refused(entries: &[Packed]) -> ArchiveError {
    unpack(&zip(entries)).unwrap_err()
}

#[test]
fn stored_and_deflated_files_are_unpacked() {
    let stored = Packed { is_deflated: false, ..file("s/a.md", "A") };
    let directory = Packed { mode: 0o040_755, is_deflated: false, ..file("s/", "") };

    let files = unpack(&zip(&[directory, file("s/SKILL.md", "text"), stored])).unwrap();

    let all: Vec<(&str, &[u8])> = files.iter().collect();
    assert_eq!(all, [("s/SKILL.md", b"text".as_slice()), ("s/a.md", b"A".as_slice())]);
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    for name in ["../evil", "/etc/evil", "a/../../evil", "a\\..\\evil", "C:\\evil", "~/evil", "%2e%2e/evil"] {
        assert!(matches!(refused(&[file("SKILL.md", "x"), file(name, "x")]), ArchiveError::Skill(_)), "{name}");
    }
    let directory = Packed { mode: 0o040_755, is_deflated: false, ..file("../", "") };
    refused(&[directory]);
}

#[test]
fn links_and_devices_are_refused() {
    assert!(matches!(refused(&[Packed { mode: 0o120_777, ..file("a", "/etc") }]), ArchiveError::Link(_)));
    for mode in [0o010_644, 0o020_644, 0o060_644, 0o140_644] {
        assert!(matches!(refused(&[Packed { mode, ..file("a", "") }]), ArchiveError::Special(_)));
    }
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked_or_while_it_is() {
    let large = "0".repeat(17 * 1024 * 1024);
    assert!(matches!(refused(&[file("a", &large)]), ArchiveError::Unpacked));
    let lies = Packed { said_size: Some(10), ..file("a", &large) };
    assert!(matches!(refused(&[lies]), ArchiveError::Damaged(_)));
    let huge = Packed { said_size: Some(u32::MAX), ..file("a", "x") };
    assert!(matches!(refused(&[huge.clone(), huge]), ArchiveError::Unpacked));
}

#[test]
fn a_million_entries_are_refused_by_their_number() {
    assert!(matches!(unpack(&end(Vec::new(), &[], 60_000)), Err(ArchiveError::TooManyEntries(60_000))));
    assert!(matches!(unpack(&end(Vec::new(), &[], u16::MAX)), Err(ArchiveError::NotZip)));
    assert!(matches!(unpack(&vec![0; 40 * 1024 * 1024]), Err(ArchiveError::TooLarge)));
}

#[test]
fn what_two_programs_would_unpack_differently_is_refused() {
    let other_name = Packed { local_name: Some("b"), ..file("a", "x") };
    assert!(matches!(refused(&[other_name]), ArchiveError::Damaged(_)));
    assert!(matches!(refused(&[file("a", "x"), file("a", "y")]), ArchiveError::Skill(_)));
    assert!(matches!(refused(&[Packed { flags: 1, ..file("a", "x") }]), ArchiveError::Unsupported(_)));
    let mut damaged = zip(&[Packed { is_deflated: false, ..file("a", "text") }]);
    let at = damaged.windows(4).position(|window| window == b"text").unwrap();
    damaged[at] = b'n';
    assert!(matches!(unpack(&damaged), Err(ArchiveError::Damaged(_))));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(at in 0_usize..400, byte in any::<u8>(), cut in 0_usize..400) {
        let mut archive = zip(&[file("s/SKILL.md", "text"), file("s/a.md", "A")]);
        let (at, cut) = (at % archive.len(), cut % archive.len());
        archive[at] = byte;
        let _ = unpack(&archive);
        let _ = unpack(&archive[cut..]);
        let _ = unpack(&archive[..cut]);
    }
}
