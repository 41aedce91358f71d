//! Bytes of a page into text. The web is UTF-8 and, in its older parts, Latin; everything else becomes readable as far as
//! it is UTF-8.

/// How much of a page is searched for its encoding.
const HEAD_BYTES: usize = 1_024;

/// What Windows-1252 has where Latin-1 has control characters.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Decodes a body. The byte order mark decides, then the header, then what an HTML page says of itself.
pub(crate) fn decode(bytes: &[u8], content_type: &str) -> String {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => {
            let named = named_in(content_type).or_else(|| {
                let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
                named_in(&String::from_utf8_lossy(head))
            });
            match named {
                Some(name) if is_latin(&name) => bytes.iter().map(|byte| latin(*byte)).collect(),
                Some(_) | None => String::from_utf8_lossy(bytes).into_owned(),
            }
        }
    }
}

/// The value of `charset=`.
fn named_in(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let after = text.split_once("charset")?.1.trim_start().strip_prefix('=')?;
    let value = after.trim_start_matches([' ', '"', '\'']);
    let end = value
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)))
        .unwrap_or(value.len());
    Some(value[..end].to_owned())
}

/// The names by which browsers know Windows-1252.
fn is_latin(name: &str) -> bool {
    matches!(
        name,
        "latin1"
            | "l1"
            | "ascii"
            | "us-ascii"
            | "windows-1252"
            | "cp1252"
            | "x-cp1252"
            | "iso-8859-1"
            | "iso8859-1"
            | "iso_8859-1"
    )
}

const fn latin(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS[(byte - 0x80) as usize],
        _ => byte as char,
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
