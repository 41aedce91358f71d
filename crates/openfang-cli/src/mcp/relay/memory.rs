//! What a legacy client has said that whoever takes over must know: its introduction, its log level, its subscriptions.

use std::collections::BTreeMap;

use bytes::Bytes;
use openfang_mcp::relaying::ClientFrame;
use openfang_types::jsonrpc::Id;
use openfang_types::limits::MCP_SUBSCRIPTIONS_PER_SESSION;

/// A frame to say again, and the id of the answer that the client must not see twice.
pub(super) struct Repeated {
    pub(super) frame: Bytes,
    pub(super) id: Option<Id>,
}

#[derive(Default)]
pub(super) struct Memory {
    introduction: Option<(Id, Bytes)>,
    initialized: Option<Bytes>,
    level: Option<(Id, Bytes)>,
    subscriptions: BTreeMap<String, (Id, Bytes)>,
}

impl Memory {
    /// A conversation begins; what was said in an earlier one counts no more.
    pub(super) fn begin(&mut self, id: Id, frame: Bytes) {
        *self = Self { introduction: Some((id, frame)), ..Self::default() };
    }

    pub(super) fn note(&mut self, kind: &ClientFrame, frame: &Bytes) {
        match kind {
            ClientFrame::Notification(method) if method == "notifications/initialized" => {
                self.initialized = Some(frame.clone());
            }
            ClientFrame::Request(request) => {
                let said = || (request.id.clone(), frame.clone());
                match (request.method.as_str(), &request.uri) {
                    ("logging/setLevel", _) => self.level = Some(said()),
                    ("resources/subscribe", Some(uri)) if self.subscriptions.len() < MCP_SUBSCRIPTIONS_PER_SESSION => {
                        self.subscriptions.insert(uri.clone(), said());
                    }
                    ("resources/unsubscribe", Some(uri)) => drop(self.subscriptions.remove(uri)),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// All of it, in order; nothing where no conversation has begun.
    pub(super) fn frames(&self) -> Vec<Repeated> {
        let Some((id, frame)) = &self.introduction else { return Vec::new() };
        let said = |(id, frame): &(Id, Bytes)| Repeated { frame: frame.clone(), id: Some(id.clone()) };
        let introduction = Repeated { frame: frame.clone(), id: Some(id.clone()) };
        let initialized = self.initialized.iter().map(|frame| Repeated { frame: frame.clone(), id: None });
        std::iter::once(introduction)
            .chain(initialized)
            .chain(self.level.iter().map(said))
            .chain(self.subscriptions.values().map(said))
            .collect()
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
