//! An external agent as a tool: `a2a_{name}`. A call is a message to the agent, and its task is the result. Skills whose
//! schemas the agent publishes can be tools too: `a2a_{name}_{skill}`.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use openfang_types::call::{Arguments, InputRequired, Outcome};
use openfang_types::config::ExternalAgent;
use openfang_types::content::{Block, ToolOutput};
use openfang_types::ids::{AgentName, ContextId, ToolName};
use openfang_types::names::Names;
use openfang_types::task::{Part, Task, TaskState};
use openfang_types::tool::{Origin, Recorded, ToolDefinition, ToolTraits};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agents::{AgentTask, ExternalMessage};
use crate::catalog::Registered;
use crate::context::CallContext;
use crate::external_call::traits_of_external;
use crate::pipeline::Permit;
use crate::schema_check::SchemaChecks;
use crate::task_output::{self, TASK_TOOL, TaskReply};
use crate::tool_source::ToolSource;
use crate::tools::{Tool, ToolFailure, ToolFuture};

/// A skill of an external agent that is a tool of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillTool {
    /// The name of the tool.
    pub name: ToolName,
    /// The agent's name for the skill.
    pub skill: String,
    /// What models read about the tool.
    pub description: String,
    pub input_schema: Value,
}

/// The tools of an external agent, as a source of their own: the agent itself, then its skills.
pub struct ExternalAgentSource {
    origin: Origin,
    names: Names,
    description: String,
    skills: Vec<SkillTool>,
    calls: AgentCalls,
    made: Vec<OnceLock<Arc<Registered>>>,
    /// Where checks against the schemas of skills run.
    checks: Arc<SchemaChecks>,
}

impl ExternalAgentSource {
    /// The tools of this agent. The description is what models read.
    pub fn new(entry: ExternalAgent, description: String, skills: Vec<SkillTool>) -> Self {
        let own = entry.tool_name();
        Self {
            origin: Origin::A2aAgent(entry.name.clone()),
            names: std::iter::once(&own)
                .chain(skills.iter().map(|skill| &skill.name))
                .map(ToolName::as_str)
                .collect(),
            made: std::iter::repeat_with(OnceLock::new).take(skills.len() + 1).collect(),
            description,
            skills,
            calls: AgentCalls { entry },
            checks: Arc::default(),
        }
    }

    fn tool(&self, place: usize) -> Option<Box<dyn Tool>> {
        let calls = self.calls.clone();
        match place.checked_sub(1) {
            None => Some(Box::new(ExternalAgentTool { calls, description: self.description.clone() })),
            Some(number) => Some(Box::new(ExternalSkillTool { calls, skill: self.skills.get(number)?.clone() })),
        }
    }
}

impl ToolSource for ExternalAgentSource {
    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn get(&self, place: usize) -> Option<Arc<Registered>> {
        let (made, tool) = (self.made.get(place)?, self.tool(place)?);
        let make = || match place {
            0 => {
                let definition = tool.definition();
                Arc::new(Registered::of_our_own(tool, definition))
            }
            // The agent wrote its schema.
            _ => Arc::new(Registered::new(tool, Arc::clone(&self.checks))),
        };
        Some(Arc::clone(made.get_or_init(make)))
    }

    fn traits(&self, place: usize) -> Option<ToolTraits> {
        Some(self.tool(place)?.traits())
    }

    fn definition(&self, place: usize) -> Option<ToolDefinition> {
        Some(self.tool(place)?.definition())
    }
}

/// The tool of an external agent.
struct ExternalAgentTool {
    calls: AgentCalls,
    description: String,
}

/// A skill of an external agent.
struct ExternalSkillTool {
    calls: AgentCalls,
    skill: SkillTool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What to say to the agent.
    message: String,
    /// The conversation to continue: the `context` of an earlier result.
    #[serde(default)]
    context: Option<String>,
    /// Structured data that goes with the message.
    #[serde(default)]
    data: Option<Map<String, Value>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described: the result is written from the task")]
struct Output {
    /// How the task stands, such as completed or input-required.
    state: String,
    /// The id of the task.
    task: String,
    /// The conversation; give it to continue.
    context: String,
    /// The data that the agent returned, if it is one object.
    data: Option<Value>,
}

impl Tool for ExternalAgentTool {
    fn definition(&self) -> ToolDefinition {
        let traits = self.traits();
        let definition = ToolDefinition::of::<Args>(traits.name, &self.description, traits.sink, traits.annotations)
            .returning::<Output>();
        ToolDefinition { kind: traits.kind, origin: traits.origin, ..definition }
    }

    fn traits(&self) -> ToolTraits {
        self.calls.traits(self.calls.entry.tool_name())
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, permit: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { message, context, data } = serde_json::from_value(arguments.into_value()?)?;
            let data = data.map(|data| Part::data(Value::Object(data)));
            let parts = [Part::text(message)].into_iter().chain(data).collect();
            let context = context.map(|context| context.parse::<ContextId>()).transpose()?;
            self.calls.send(cx, parts, context, permit).await
        })
    }
}

impl Tool for ExternalSkillTool {
    fn definition(&self) -> ToolDefinition {
        let (traits, skill) = (self.traits(), &self.skill);
        let definition = ToolDefinition::of::<Args>(traits.name, &skill.description, traits.sink, traits.annotations)
            .returning::<Output>();
        let input_schema = skill.input_schema.clone();
        ToolDefinition { kind: traits.kind, origin: traits.origin, input_schema, ..definition }
    }

    fn traits(&self) -> ToolTraits {
        self.calls.traits(self.skill.name.clone())
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, permit: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let call = json!({ "tool": self.skill.skill, "arguments": arguments.into_value()? });
            self.calls.send(cx, vec![Part::data(call)], None, permit).await
        })
    }
}

/// The way from a tool to the tasks of its agent.
#[derive(Clone)]
struct AgentCalls {
    entry: ExternalAgent,
}

impl AgentCalls {
    fn traits(&self, name: ToolName) -> ToolTraits {
        // The message itself is on record before it is sent.
        ToolTraits { name, recorded: Recorded::After, ..traits_of_external(&self.entry) }
    }

    /// Sends a message, or the answer to the question that it led to.
    async fn send(
        &self,
        cx: &CallContext,
        parts: Vec<Part>,
        context: Option<ContextId>,
        permit: Permit,
    ) -> Result<Outcome<ToolOutput>, ToolFailure> {
        let agent = &self.entry.name;
        let (task, parts) = match task_output::reply(cx.back.resumed.as_deref()) {
            Some(TaskReply::Said(task, part)) => (Some(task), vec![part]),
            Some(TaskReply::Declined(task)) => {
                let text = format!("the question was not answered; task {task} still waits for a reply");
                return Ok(Outcome::Done(ToolOutput::error(text)));
            }
            Some(TaskReply::SigningIn(task)) => {
                let answer = Arc::clone(&cx.agents).signed_in_task(cx, agent, task).await?;
                // The page was opened once; it is not opened again.
                return Ok(match answer.task.status.state {
                    TaskState::AuthRequired => Outcome::Done(result_of(agent, &answer.task).labelled(&answer.labels)),
                    _ => self.outcome(cx, answer),
                });
            }
            Some(TaskReply::Unreadable(task)) => {
                return Ok(self.outcome(cx, Arc::clone(&cx.agents).external_task(cx, agent, task).await?));
            }
            None => (None, parts),
        };
        let message = ExternalMessage { agent, parts, task, context };
        let answer = Arc::clone(&cx.agents).ask_external(cx, message, permit).await?;
        Ok(self.outcome(cx, answer))
    }

    /// What a task of the agent means to whoever called.
    fn outcome(&self, cx: &CallContext, answer: AgentTask) -> Outcome<ToolOutput> {
        let AgentTask { task, labels } = answer;
        let name = &self.entry.name;
        if task.status.state.is_interrupted() {
            let asking = format!("The A2A agent {name}");
            let question = task_output::question(&task, Some(&asking), cx.config.limits.tool_result_chars);
            if let Some((key, request)) = question.filter(|(_, request)| cx.back.client.has(request.needs)) {
                if let Some(run) = &cx.run {
                    run.enters(&labels);
                }
                let state = task.id.as_uuid().as_bytes().to_vec();
                return Outcome::NeedsInput(InputRequired { requests: BTreeMap::from([(key, request)]), state });
            }
        }
        Outcome::Done(result_of(name, &task).labelled(&labels))
    }
}

/// A task of an external agent as a result.
pub fn result_of(name: &AgentName, task: &Task) -> ToolOutput {
    let state = task.status.state;
    if matches!(state, TaskState::Submitted | TaskState::Working) {
        return task_output::still_working(task);
    }
    let mut content = task_output::blocks(task);
    let is_error = match state {
        TaskState::Completed => false,
        TaskState::InputRequired | TaskState::AuthRequired => {
            content.insert(0, Block::text(format!("The A2A agent {name} waits ({state}):")));
            content.push(Block::text(format!(
                "Answer with the tool {TASK_TOOL} (task and reply), or with: openfang a2a send {name} REPLY --task {}",
                task.id
            )));
            false
        }
        TaskState::Submitted | TaskState::Working | TaskState::Failed | TaskState::Canceled | TaskState::Rejected => {
            content.insert(0, Block::text(format!("The A2A agent {name} ended {state}:")));
            true
        }
    };
    let mut structured = task_output::summary(task);
    if let Some(data) = task_output::only_data(task) {
        structured["data"] = data.clone();
    }
    ToolOutput { is_error, ..ToolOutput::of_blocks(content) }.with_structured(&structured)
}
