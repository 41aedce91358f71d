//! What a server has: its lists, page by page, within bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use openfang_types::limits::{MCP_UPSTREAM_ENTRIES, MCP_UPSTREAM_LIST_BYTES, MCP_UPSTREAM_PAGES};
use serde_json::value::RawValue;

use super::{ClientError, Connection, Members};

/// A list, as far as it was taken.
pub(super) struct Pages {
    pub(super) entries: Vec<Box<RawValue>>,
    /// Why the rest was left.
    pub(super) cut: Option<String>,
}

/// Reads a list: all its pages, but not without end.
pub(super) async fn list(
    connection: &Connection,
    method: &str,
    member: &str,
    patience: Duration,
) -> Result<Pages, ClientError> {
    let mut pages = Pages { entries: Vec::new(), cut: None };
    let (mut bytes, mut cursor): (usize, Option<String>) = (0, None);
    for _ in 0..MCP_UPSTREAM_PAGES {
        let members = Members::none().with_some("cursor", cursor.as_ref());
        let result = connection.ask(method, members, patience).await?;
        bytes += result.get().len();
        let (entries, next) = page(&result, member)?;
        pages.entries.extend(entries);
        if pages.entries.len() > MCP_UPSTREAM_ENTRIES {
            pages.entries.truncate(MCP_UPSTREAM_ENTRIES);
            pages.cut = Some(format!("{method} has more than {MCP_UPSTREAM_ENTRIES} entries; the rest is left out"));
            return Ok(pages);
        }
        if bytes > MCP_UPSTREAM_LIST_BYTES {
            pages.cut = Some(format!("{method} is larger than 64 MiB; the rest is left out"));
            return Ok(pages);
        }
        match next {
            None => return Ok(pages),
            Some(next) if cursor.as_ref() == Some(&next) => {
                pages.cut = Some(format!("{method} goes in a circle: the same cursor came twice"));
                return Ok(pages);
            }
            Some(next) => cursor = Some(next),
        }
    }
    pages.cut = Some(format!("{method} has more than {MCP_UPSTREAM_PAGES} pages; the rest is left out"));
    Ok(pages)
}

fn page(result: &RawValue, member: &str) -> Result<(Vec<Box<RawValue>>, Option<String>), ClientError> {
    let wrong = || ClientError::NotMcp(format!("its answer has no list of {member}"));
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(result.get()).map_err(|_| wrong())?;
    let entries = members.remove(member).ok_or_else(wrong)?;
    let entries = serde_json::from_str(entries.get()).map_err(|_| wrong())?;
    let next = members.remove("nextCursor").and_then(|raw| serde_json::from_str(raw.get()).ok());
    Ok((entries, next))
}
