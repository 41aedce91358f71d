//! What a server has: its lists, page by page, within bounds.

use std::time::Duration;

use openfang_types::limits::{MCP_UPSTREAM_ENTRIES, MCP_UPSTREAM_LIST_BYTES, MCP_UPSTREAM_PAGES};
use tokio::task::spawn_blocking;

use super::checking::{Checked, Checking};
use super::{ClientError, Connection, RawMembers};
use crate::listing::Listed;

/// A list, as far as it was taken.
pub(super) struct Pages {
    pub(super) checked: Checked,
    /// Why the rest was left.
    pub(super) cut: Option<String>,
}

/// Reads a list: all its pages, but not without end. Each page is gone before the next one is asked for.
pub(super) async fn list(
    connection: &Connection,
    (method, listed): (&str, Listed),
    patience: Duration,
) -> Result<Pages, ClientError> {
    let mut checking = Checking::new(listed);
    let (mut bytes, mut cursor): (usize, Option<String>) = (0, None);
    let mut cut = Some(format!("{method} has more than {MCP_UPSTREAM_PAGES} pages; the rest is left out"));
    for _ in 0..MCP_UPSTREAM_PAGES {
        let members = RawMembers::none().with_some("cursor", cursor.as_ref());
        let result = connection.ask(method, members, patience).await?;
        bytes += result.get().len();
        // There may be thousands, and schemas are looked at one by one.
        let taken = spawn_blocking(move || checking.page(&result).map(|taken| (checking, taken))).await;
        let (back, taken) = taken.map_err(|error| ClientError::NotMcp(error.to_string()))??;
        checking = back;
        let is_circle = cursor.is_some() && taken.next == cursor;
        cursor = taken.next;
        if taken.is_too_many {
            cut = Some(format!("{method} has more than {MCP_UPSTREAM_ENTRIES} entries; the rest is left out"));
        } else if bytes > MCP_UPSTREAM_LIST_BYTES {
            cut = Some(format!("{method} is larger than 64 MiB; the rest is left out"));
        } else if cursor.is_none() {
            cut = None;
        } else if is_circle {
            cut = Some(format!("{method} goes in a circle: the same cursor came twice"));
        } else {
            continue;
        }
        break;
    }
    Ok(Pages { checked: checking.finish(), cut })
}
