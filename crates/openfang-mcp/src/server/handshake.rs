//! How a conversation begins: `initialize` in the legacy era, `server/discover` in the modern one.

use openfang_types::jsonrpc::Id;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Server;
use super::params;
use super::respond::{Kind, ServerInfo, members};
use crate::capabilities::ClientCapabilities;
use crate::client_name::ClientName;
use crate::error::McpError;
use crate::host::{Host, Identity, Offers};
use crate::revision::{Revision, TaskMethods};

/// Whether a request is the handshake of the legacy era. One that says it is modern is not, whatever its method: the
/// modern era has no handshake, and must say so.
pub(crate) fn is_handshake(method: &str, params: Option<&RawValue>) -> bool {
    method == "initialize" && !params::read(params).is_ok_and(|(meta, _)| meta.is_modern())
}

/// What a client said in `initialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Introduced {
    pub(crate) revision: Revision,
    pub(crate) client: ClientCapabilities,
    pub(crate) name: ClientName,
}

impl Introduced {
    /// Reads the parameters of `initialize`; all of them may be missing, as the first clients left them out.
    pub(crate) fn read(params: Option<&RawValue>) -> Result<Self, McpError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(default)]
            protocol_version: Option<String>,
            #[serde(borrow, default)]
            capabilities: Option<&'a RawValue>,
            #[serde(borrow, default)]
            client_info: Option<&'a RawValue>,
        }
        let Some(params) = params else {
            let name = ClientName::default();
            return Ok(Self { revision: Revision::UNNAMED, client: ClientCapabilities::NONE, name });
        };
        let wrong =
            |_| McpError::InvalidParams("initialize takes an object with protocolVersion and capabilities".to_owned());
        let params: Params<'_> = serde_json::from_str(params.get()).map_err(wrong)?;
        let revision = Revision::negotiated(params.protocol_version.as_deref());
        let client = params.capabilities.map(ClientCapabilities::read).unwrap_or_default();
        let name = params.client_info.map(ClientName::read).unwrap_or_default();
        Ok(Self { revision, client: revision.facts().askable(client), name })
    }
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListChanged {
    list_changed: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Subscribable {
    subscribe: bool,
    list_changed: bool,
}

/// What of tasks the first generation has: calls of tools become tasks, which can be listed and canceled.
#[derive(Serialize)]
struct CoreTasks {
    list: Empty,
    cancel: Empty,
    requests: TaskRequests,
}

#[derive(Serialize)]
struct TaskRequests {
    tools: TaskTools,
}

#[derive(Serialize)]
struct TaskTools {
    call: Empty,
}

#[derive(Serialize)]
struct Extensions {
    #[serde(rename = "io.modelcontextprotocol/tasks", skip_serializing_if = "Option::is_none")]
    tasks: Option<Empty>,
    #[serde(rename = "io.modelcontextprotocol/skills", skip_serializing_if = "Option::is_none")]
    skills: Option<SkillsSupport>,
}

impl Extensions {
    fn of(offers: Offers, revision: Revision) -> Option<Self> {
        let has_tasks = offers.tasks && revision.facts().tasks == TaskMethods::Extension;
        let has_skills = offers.skills && revision.facts().extensions;
        let tasks = has_tasks.then_some(Empty {});
        let skills = has_skills.then_some(SkillsSupport { directory_read: true });
        (has_tasks || has_skills).then_some(Self { tasks, skills })
    }
}

/// What of the extension for skills there is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SkillsSupport {
    directory_read: bool,
}

#[derive(Serialize)]
struct Capabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    completions: Option<Empty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Extensions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logging: Option<Empty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<ListChanged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Subscribable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<CoreTasks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<ListChanged>,
}

impl Capabilities {
    fn of(offers: Offers, revision: Revision) -> Self {
        let changing = || ListChanged { list_changed: true };
        let has_completions = offers.completions && revision.facts().completions_capability;
        let has_tasks = |methods| offers.tasks && revision.facts().tasks == methods;
        let core = || CoreTasks {
            list: Empty {},
            cancel: Empty {},
            requests: TaskRequests { tools: TaskTools { call: Empty {} } },
        };
        Self {
            completions: has_completions.then_some(Empty {}),
            extensions: Extensions::of(offers, revision),
            logging: offers.logging.then_some(Empty {}),
            prompts: offers.prompts.then(changing),
            resources: offers
                .resources
                .then_some(Subscribable { subscribe: offers.subscriptions, list_changed: true }),
            tasks: has_tasks(TaskMethods::Core).then(core),
            tools: offers.tools.then(changing),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Initialized<'a> {
    protocol_version: &'static str,
    capabilities: Capabilities,
    server_info: ServerInfo<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<HandshakeMeta<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Discovered<'a> {
    /// First, so that it is found: a result has one `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<HandshakeMeta<'a>>,
    supported_versions: Vec<&'static str>,
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

/// What the first answer says about this OpenFang: whoever connects can tell whether it is itself.
#[derive(Serialize)]
struct HandshakeMeta<'a> {
    #[serde(rename = "openfang/instance")]
    instance: &'a str,
    /// The modern era has it there with every answer.
    #[serde(rename = "io.modelcontextprotocol/serverInfo", skip_serializing_if = "Option::is_none")]
    server_info: Option<ServerInfo<'a>>,
}

impl<'a> HandshakeMeta<'a> {
    fn of(identity: &'a Identity, revision: Revision) -> Option<Self> {
        let server_info = revision.facts().meta_required.then(|| ServerInfo::of(identity, true));
        Some(Self { instance: identity.instance.as_deref()?, server_info })
    }
}

impl<H: Host> Server<H> {
    /// The answer to `initialize`.
    pub(super) fn initialized(&self, caller: &H::Caller, id: &Id, introduced: Introduced) -> Vec<u8> {
        let Introduced { revision, .. } = introduced;
        let signature = self.signature();
        let identity = signature.identity();
        let result = Initialized {
            protocol_version: revision.name(),
            capabilities: Capabilities::of(self.inner.host.offers(caller), revision),
            server_info: ServerInfo::of(identity, revision.facts().titles),
            instructions: identity.instructions.as_deref(),
            meta: HandshakeMeta::of(identity, revision),
        };
        signature.respond(id, revision, &members(&result), Kind::Answer)
    }

    /// The members of the answer to `server/discover`.
    pub(super) fn discovered(&self, caller: &H::Caller, revision: Revision) -> Vec<u8> {
        let signature = self.signature();
        let identity = signature.identity();
        members(&Discovered {
            supported_versions: modern_versions(),
            capabilities: Capabilities::of(self.inner.host.offers(caller), revision),
            instructions: identity.instructions.as_deref(),
            meta: HandshakeMeta::of(identity, revision),
        })
    }
}

/// What a request that stands alone may speak.
pub(crate) fn modern_versions() -> Vec<&'static str> {
    Revision::all()
        .filter(|revision| !revision.facts().handshake)
        .map(Revision::name)
        .collect()
}

#[cfg(test)]
#[path = "handshake_tests.rs"]
mod tests;
