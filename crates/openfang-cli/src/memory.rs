//! Memory that is given back. What a server with thousands of tools says comes as megabytes of messages that are gone in a
//! moment. Our allocator hands the memory they took back to the system when something large is freed a while later, and
//! in a quiet house nothing is; so something is freed here.

use std::convert::Infallible;
use std::future::pending;
use std::hint::black_box;

use futures_util::StreamExt as _;
use openfang_kernel::mcp::Ticks;
use openfang_types::limits::{MEMORY_LARGE_BYTES, MEMORY_SETTLED};
use tokio::time::sleep;

/// Gives memory back a while after the start, and whenever the tools of MCP servers have changed.
pub(crate) async fn give_back(mut tool_changes: Ticks) -> Infallible {
    loop {
        sleep(MEMORY_SETTLED).await;
        drop(black_box(Vec::<u8>::with_capacity(MEMORY_LARGE_BYTES)));
        if tool_changes.next().await.is_none() {
            return pending().await;
        }
    }
}
