//! The servers as the kernel shows them: where each stands, what it wrote, and the two things that can be done about it.

use openfang_types::ids::ServerName;
use openfang_types::mcp_status::McpServerStatus;

use crate::Kernel;

impl Kernel {
    /// How a server is doing; none where there is none of that name.
    pub fn mcp_status(&self, name: &ServerName) -> Option<McpServerStatus> {
        self.inner.upstreams.status(name)
    }

    /// What a server wrote to its stderr and what was noted about it, oldest first.
    pub fn mcp_log(&self, name: &ServerName) -> Option<Vec<String>> {
        self.inner.upstreams.log(name)
    }

    /// Connects to a server anew, and returns when it is ready or has failed.
    pub async fn reconnect_mcp(&self, name: &ServerName) -> Option<McpServerStatus> {
        self.inner.upstreams.restart(name).await
    }

    /// Brings back tools of a server that wait to be approved: one, or all. Returns which.
    pub async fn approve_mcp(&self, name: &ServerName, tool: Option<&str>) -> Option<Vec<String>> {
        self.inner.upstreams.approve(name, tool).await
    }
}
