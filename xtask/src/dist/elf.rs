//! Whether a binary of Linux needs a dynamic linker: the one thing of ELF that is of interest here.

use anyhow::{Context, Result, bail};

const MAGIC: &[u8] = b"\x7fELF\x02\x01";
/// The kind of a program header that names the dynamic linker.
const INTERPRETER: u32 = 3;

/// The dynamic linker that a 64-bit little-endian binary asks for; none if it is static.
pub(super) fn interpreter(binary: &[u8]) -> Result<Option<String>> {
    if !binary.starts_with(MAGIC) {
        bail!("this is not a 64-bit ELF binary");
    }
    let table = usize::try_from(number(binary, 32, 8)?)?;
    let (size, count) = (number(binary, 54, 2)?, number(binary, 56, 2)?);
    for index in 0..count {
        let at = table + usize::try_from(index * size)?;
        if number(binary, at, 4)? != u64::from(INTERPRETER) {
            continue;
        }
        let (begin, length) =
            (usize::try_from(number(binary, at + 8, 8)?)?, usize::try_from(number(binary, at + 32, 8)?)?);
        let path = begin
            .checked_add(length)
            .and_then(|end| binary.get(begin..end))
            .context("the binary is cut off")?;
        return Ok(Some(String::from_utf8_lossy(path).trim_end_matches('\0').to_owned()));
    }
    Ok(None)
}

/// A little-endian number of at most eight bytes.
fn number(binary: &[u8], at: usize, bytes: usize) -> Result<u64> {
    let found = at
        .checked_add(bytes)
        .and_then(|end| binary.get(at..end))
        .context("the binary is cut off")?;
    Ok(found.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
