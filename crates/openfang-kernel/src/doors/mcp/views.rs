//! Views of the house that show less than everything, each with a server of its own.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::{McpServer, View};
use crate::doors::Doors;
use crate::{Caller, Kernel, KernelError};

/// The servers of the views, each made when it is first asked for.
pub struct McpViews {
    doors: Doors,
    made: Mutex<HashMap<View, McpServer>>,
}

impl McpViews {
    /// The views of a kernel.
    pub fn new(kernel: &Kernel) -> Self {
        Self { doors: kernel.doors().clone(), made: Mutex::default() }
    }

    /// The server of a view. An agent that this caller does not see is as unknown as one that there is not.
    pub fn get(&self, caller: &Caller, view: View) -> Result<McpServer, KernelError> {
        if let Some(name) = view.only_agent() {
            self.doors.inner.settings().agent(&caller.principal, name)?;
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(&view) {
            return Ok(known.clone());
        }
        // As many as there are agents: those of agents that are gone go too.
        let settings = self.doors.inner.settings();
        made.retain(|view, _| view.only_agent().is_none_or(|name| settings.agents().get(name).is_some()));
        let server = self.doors.mcp_server(view.clone());
        made.insert(view, server.clone());
        Ok(server)
    }
}
