//! Returns unused memory to the system. The tool lists of large MCP servers take megabytes that are freed soon after. The
//! allocator returns this memory only when a large block is freed later, and an idle process frees none; so this module
//! allocates and frees one.

use std::convert::Infallible;
use std::future::pending;
use std::hint::black_box;

use futures_util::StreamExt as _;
use openfang_kernel::mcp::Ticks;
use openfang_types::limits::{MEMORY_LARGE_BYTES, MEMORY_SETTLED};
use tokio::time::sleep;

/// Returns memory a while after the start, and after every change of the tools of MCP servers.
pub(crate) async fn give_back(mut tool_changes: Ticks) -> Infallible {
    loop {
        sleep(MEMORY_SETTLED).await;
        drop(black_box(Vec::<u8>::with_capacity(MEMORY_LARGE_BYTES)));
        if tool_changes.next().await.is_none() {
            return pending().await;
        }
    }
}
