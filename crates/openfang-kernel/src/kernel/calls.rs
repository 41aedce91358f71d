//! Tools that are called without an agent, and what an agent may do with one.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_runtime::pipeline::ToolCall;
use openfang_types::agent::AgentManifest;
use openfang_types::api::{PolicyCases, PolicyReport};
use openfang_types::call::{AskedBack, InputRequired, Outcome, Resumed};
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, ToolName};
use openfang_types::tool::ToolDefinition;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Kernel;
use crate::execute_tool::{Explanation, GrantMeaning};
use crate::{Caller, KernelError, Way};

impl Kernel {
    /// Calls a tool for its caller, without an agent and without a way back: a tool that has questions is refused.
    pub async fn execute_tool(&self, caller: &Caller, call: ToolCall<'_>) -> Result<ToolOutput, KernelError> {
        self.parts.calls.execute_tool(caller, call).await
    }

    /// Calls a tool for its caller, who can be told how it goes and asked.
    pub async fn call_tool(
        &self,
        caller: &Caller,
        call: ToolCall<'_>,
        way: Way,
    ) -> Result<Outcome<ToolOutput>, KernelError> {
        self.parts.calls.call_tool(caller, call, way).await
    }

    /// The tools this caller may use, by name: directly, or through an agent.
    pub fn available_tools(
        &self,
        caller: &Caller,
        through: Option<&AgentName>,
    ) -> Result<Vec<ToolDefinition>, KernelError> {
        self.parts.calls.available_tools(caller, through)
    }

    /// One tool this caller may use.
    pub fn tool(&self, caller: &Caller, name: &ToolName) -> Result<ToolDefinition, KernelError> {
        self.parts.calls.tool(caller, name)
    }

    /// The questions of a call of this tool with these arguments.
    pub fn ask_back(&self, caller: &Caller, call: (&ToolName, &Value), needed: InputRequired) -> AskedBack {
        self.parts.calls.ask_back(caller, call, needed)
    }

    /// The answers that came with a state; none where the state is not one that was given for this call.
    pub fn answered_back(
        &self,
        caller: &Caller,
        call: (&ToolName, &Value),
        answered: (BTreeMap<String, Box<RawValue>>, &str),
    ) -> Option<Resumed> {
        self.parts.calls.answered_back(caller, call, answered)
    }

    /// What a grant names, with the tools and agents that there are now.
    pub fn grant_meaning(&self, caller: &Caller, grant: &str) -> Result<GrantMeaning, KernelError> {
        self.parts.calls.grant_meaning(caller, grant)
    }

    /// Explains what would happen if the agent called the tool.
    pub fn explain(&self, caller: &Caller, agent: &AgentName, tool: &ToolName) -> Result<Explanation, KernelError> {
        self.parts.calls.explain(caller, agent, tool)
    }

    /// Judges expected verdicts, for this caller. Nothing is called.
    pub fn judge_cases(&self, caller: &Caller, cases: &PolicyCases) -> Result<PolicyReport, KernelError> {
        self.parts.calls.judge_cases(caller, cases)
    }

    /// An agent as the caller may know it, and those of its tools that the caller may use. A user is shown these in the place
    /// of the agent's patterns and servers, which may name what was not granted.
    pub fn describe_agent(
        &self,
        caller: &Caller,
        name: &AgentName,
    ) -> Result<(Arc<AgentManifest>, Vec<ToolName>), KernelError> {
        self.parts.calls.describe_agent(caller, name)
    }
}
