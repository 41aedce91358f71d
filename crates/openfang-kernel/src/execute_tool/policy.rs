//! What an agent may do with a tool, and why: the answer to "would this be allowed?", before it is tried.

use std::sync::Arc;
use std::time::Duration;

use openfang_runtime::pipeline::capability::agent_covers;
use openfang_runtime::pipeline::timeout;
use openfang_types::agent::{AgentManifest, Capabilities};
use openfang_types::capability::Glob;
use openfang_types::config::{Config, ExecConfig, ExecRule, McpServerConfigEntry};
use openfang_types::ids::{AgentName, ServerName, ToolName};
use openfang_types::limits::EXEC_TIMEOUT_MAX;
use openfang_types::principal::PrincipalKind;
use openfang_types::taint::{ChosenHost, JudgedCall, Label, Labels, SinkKind, Verdict, WordedBy, verdict};
use openfang_types::tool::{Recorded, ToolKind, ToolTraits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DirectCalls;
use crate::{Caller, KernelError};

/// The policy for one agent and one tool.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    pub agent: AgentName,
    pub tool: ToolName,
    /// Whether the agent's patterns cover the tool.
    pub granted: bool,
    /// Whether nobody can call the tool until the operator accepts its changed definition. Only the operator sees that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quarantined: bool,
    /// The MCP server that the tool belongs to, if it is quarantined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerName>,
    pub patterns: Vec<String>,
    /// What the tool does with what it is given.
    pub sink: SinkKind,
    /// The rule of that sink, in words.
    pub rule: String,
    /// The labels that refuse the call by themselves.
    pub refusing_labels: Vec<Label>,
    /// The labels with which the call waits for an approval.
    pub asking_labels: Vec<Label>,
    /// The labels with which the call waits for an approval when content from outside is in the context too.
    pub asking_with_foreign: Vec<Label>,
    /// Whether an approval can only be given at this machine.
    pub approved_at_machine: bool,
    /// Whether a row of the audit log is written before the call.
    pub audited_before: bool,
    /// How long the call may take.
    pub timeout_secs: u64,
    /// Of a tool that runs programs: the rules about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramRules>,
}

/// The rules about programs that apply to an agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgramRules {
    /// Commands that run without a question, by `config.toml`.
    pub allow: Vec<ExecRule>,
    /// Those of them that the agent is narrowed to; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_of_agent: Option<Vec<ExecRule>>,
    /// Commands that never run.
    pub deny: Vec<String>,
    /// Whether programs can open network connections.
    pub network: bool,
    /// Whether programs run in a sandbox.
    pub sandboxed: bool,
}

impl ProgramRules {
    fn new(config: &ExecConfig, agent: &AgentManifest) -> Self {
        Self {
            allow: config.allow.clone(),
            allow_of_agent: agent.exec.allow.clone(),
            deny: config.deny.iter().chain(&agent.exec.deny).cloned().collect(),
            network: config.network && agent.exec.network != Some(false),
            sandboxed: !config.unsandboxed,
        }
    }
}

impl DirectCalls {
    /// Explains what would happen if the agent called the tool.
    pub(crate) fn explain(
        &self,
        caller: &Caller,
        agent: &AgentName,
        tool: &ToolName,
    ) -> Result<Explanation, KernelError> {
        let settings = self.settings.current();
        let manifest = Arc::clone(&settings.agent(&caller.principal, agent)?.manifest);
        let catalog = self.pipeline.catalog();
        let registered = catalog.get(tool).filter(|known| is_known(caller, &manifest, &known.traits));
        let waiting = if registered.is_none() && is_operator(caller) { catalog.quarantine().get(tool) } else { None };
        let known = registered.as_ref().map(|tool| &tool.traits).or(waiting.as_ref());
        let traits = known.ok_or_else(|| KernelError::UnknownTool(tool.clone()))?;
        // The other patterns may name what was not granted to a user.
        let is_shown = |pattern: &&Glob| !is_user(caller) || pattern.covers(traits);
        let judged = |labels: &Labels| judged(traits, labels);
        let alone = |label: &Label| judged(&Labels::one(*label, ""));
        let foreign = Labels::one(Label::ExternalNetwork, "");
        let with_foreign = |label: &Label| {
            let both = foreign.clone().joined(&Labels::one(*label, ""));
            alone(label) == Verdict::Allow && judged(&both) != judged(&foreign)
        };
        Ok(Explanation {
            agent: agent.clone(),
            tool: tool.clone(),
            granted: agent_covers(&manifest.capabilities, traits),
            quarantined: waiting.is_some(),
            server: waiting.as_ref().and_then(|tool| tool.origin.server().cloned()),
            patterns: manifest.capabilities.tools.iter().filter(is_shown).map(ToString::to_string).collect(),
            sink: traits.sink,
            rule: traits.sink.rule().to_owned(),
            refusing_labels: those(|label| matches!(alone(label), Verdict::Refuse(_))),
            asking_labels: those(|label| matches!(alone(label), Verdict::Ask(_))),
            asking_with_foreign: those(with_foreign),
            approved_at_machine: traits.sink == SinkKind::Executes,
            audited_before: traits.recorded == Recorded::Before,
            timeout_secs: timeout_of(traits, (settings.config(), &manifest)).as_secs(),
            programs: (traits.kind == ToolKind::RunsProgram && !is_user(caller))
                .then(|| ProgramRules::new(&settings.config().exec, &manifest)),
        })
    }

    /// An agent as the caller may know it, and those of its tools that the caller may use. A user is shown these in the place
    /// of the agent's patterns and servers, which may name what was not granted.
    pub(crate) fn describe_agent(
        &self,
        caller: &Caller,
        name: &AgentName,
    ) -> Result<(Arc<AgentManifest>, Vec<ToolName>), KernelError> {
        let manifest = Arc::clone(&self.settings.current().agent(&caller.principal, name)?.manifest);
        let tools = self.available_tools(caller, Some(name))?;
        let tools: Vec<ToolName> = tools.into_iter().map(|tool| tool.name).collect();
        if !is_user(caller) {
            return Ok((manifest, tools));
        }
        let names = tools.iter().filter_map(|tool| tool.as_str().parse().ok()).collect();
        let shown = AgentManifest {
            capabilities: Capabilities { tools: names, ..Capabilities::default() },
            default_tool: manifest.default_tool.clone().filter(|tool| tools.contains(tool)),
            ..AgentManifest::clone(&manifest)
        };
        Ok((Arc::new(shown), tools))
    }
}

/// The verdict on a call that the user did not word, to a host that nobody named.
fn judged(tool: &ToolTraits, labels: &Labels) -> Verdict {
    verdict(&JudgedCall {
        decided_with: labels,
        carried: labels,
        sink: tool.sink,
        destination: None,
        is_destructive: tool.annotations.destructive_hint,
        worded_by: WordedBy::Anybody,
        host: ChosenHost::Unknown,
    })
}

fn those(is_one: impl Fn(&Label) -> bool) -> Vec<Label> {
    Label::ALL.into_iter().filter(is_one).collect()
}

fn is_user(caller: &Caller) -> bool {
    matches!(caller.principal.standing(), PrincipalKind::User(_))
}

fn is_operator(caller: &Caller) -> bool {
    matches!(caller.principal.standing(), PrincipalKind::Admin(_))
}

/// Whether a tool exists for a caller: directly, or through the agent.
pub(super) fn is_known(caller: &Caller, agent: &AgentManifest, tool: &ToolTraits) -> bool {
    let through_it = agent_covers(&agent.capabilities, tool).then_some(&agent.name);
    caller.principal.may_use(tool, through_it)
}

/// How long a call may take; of a tool of an MCP server, how long without progress.
fn timeout_of(tool: &ToolTraits, (config, agent): (&Config, &AgentManifest)) -> Duration {
    if tool.kind == ToolKind::RunsProgram {
        return agent.exec.timeout_secs.map_or(EXEC_TIMEOUT_MAX, Duration::from_secs);
    }
    let entry = tool
        .origin
        .server()
        .and_then(|name| config.mcp_servers.iter().find(|entry| entry.name == *name));
    entry.map_or_else(|| timeout::limit_of(tool.kind, &config.limits), McpServerConfigEntry::timeout)
}
