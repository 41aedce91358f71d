//! A kernel in this process as a backend. It uses the same store as the daemon and later commands.

use std::sync::Arc;

use openfang_kernel::home::Home;
use openfang_kernel::mcp::is_mcp_tool;
use openfang_kernel::{
    AgentSummary, Begin, Boot, Caller, Explanation, Follow, Kernel, KernelError, TaskFilter, ToolCall, Way, WayBack,
    questions,
};
use openfang_types::call::{CallListener, Outcome};
use openfang_types::config::Config;
use openfang_types::event::Until;
use openfang_types::ids::{AgentName, Owner, TaskId, ToolName};
use openfang_types::principal::{AdminProof, Door, Principal};
use openfang_types::settings_status::FailedAgent;
use openfang_types::task::{Message, Task};
use openfang_types::tool::ToolDefinition;
use serde_json::Value;

use super::{AgentView, Answered, CallOf, Called, Following, Outgoing, Reply, TaskListing, TaskQuery};
use crate::error::CliError;
use crate::session::Session;
use crate::talk::Talk;

pub(crate) struct InProcess {
    pub(super) kernel: Kernel,
    pub(super) caller: Caller,
}

impl InProcess {
    pub(crate) fn start(session: &Session, home: Home, config: Config) -> Result<Self, CliError> {
        let kernel = Boot::new(home, config).start()?;
        session.works_with(&kernel);
        kernel.heed_cancel_requests();
        let caller = Caller {
            principal: Arc::new(Principal::admin(AdminProof::InProcess)),
            door: Door::Cli,
            trace: kernel.trace(),
            hops: 0,
            room: None,
        };
        Ok(Self { kernel, caller })
    }

    /// The kernel and its caller.
    pub(crate) fn into_parts(self) -> (Kernel, Caller) {
        (self.kernel, self.caller)
    }

    /// Asks in the place of a user from now on, or again as the operator.
    pub(super) async fn in_place_of(&mut self, user: Option<&Owner>) -> Result<(), CliError> {
        let operator = Caller { principal: Arc::new(Principal::admin(AdminProof::InProcess)), ..self.caller.clone() };
        self.caller = self.said(self.kernel.in_place_of(operator, user).await)?;
        Ok(())
    }

    /// Connects to MCP servers whose tools are not known yet.
    pub(super) async fn acquaint(&self) {
        self.kernel.acquaint_mcp_servers().await;
    }

    pub(super) fn agents(&self) -> Vec<AgentSummary> {
        self.kernel.agents(&self.caller.principal)
    }

    pub(super) fn failed_agents(&self) -> Vec<FailedAgent> {
        self.kernel.failed_agents(&self.caller.principal)
    }

    pub(super) fn agent(&self, name: &AgentName) -> Result<AgentView, CliError> {
        let (agent, tools) = self.said(self.kernel.describe_agent(&self.caller, name))?;
        Ok(AgentView { agent, tools })
    }

    pub(super) fn tools(&self, through: Option<&AgentName>) -> Result<Vec<ToolDefinition>, CliError> {
        self.kernel.available_tools(&self.caller, through).map_err(|error| self.refused(&error))
    }

    pub(super) fn tool(&self, name: &ToolName) -> Result<ToolDefinition, CliError> {
        self.kernel.tool(&self.caller, name).map_err(|error| self.refused(&error))
    }

    pub(super) async fn call_tool(
        &self,
        call: &CallOf<'_>,
        answered: Option<Answered>,
        talk: &Arc<Talk>,
    ) -> Result<Called, CliError> {
        if is_mcp_tool(call.name.as_str()) {
            self.acquaint().await;
        }
        let arguments = Value::Object(call.arguments.clone());
        let resumed = answered.and_then(|(answers, state)| {
            self.kernel.answered_back(&self.caller, (call.name, &arguments), (answers, &state))
        });
        let listener = Arc::clone(talk) as Arc<dyn CallListener>;
        let resumed = resumed.map(Arc::new);
        let client = questions::askable();
        let back = WayBack { listener: Some(listener), client, resumed, ..WayBack::default() };
        let way = Way { back, cancel: call.cancel.clone() };
        let tool_call = ToolCall { name: call.name.clone(), arguments: arguments.clone().into() };
        match self.said(self.kernel.call_tool(&self.caller, tool_call, way).await)? {
            Outcome::Done(output) => Ok(Called::Done(output)),
            Outcome::NeedsInput(needed) => {
                Ok(Called::Asks(self.kernel.ask_back(&self.caller, (call.name, &arguments), needed)))
            }
        }
    }

    pub(super) async fn send(&self, message: Outgoing) -> Result<Reply, CliError> {
        self.acquaint().await;
        let (agent, message) = self.message(message);
        let reply = self.kernel.send_message(&self.caller, &agent, message).await;
        self.said(reply)
    }

    pub(super) async fn send_streaming(&self, message: Outgoing) -> Result<Following, CliError> {
        self.acquaint().await;
        let (agent, message) = self.message(message);
        let reply = self.kernel.submit(&self.caller, &agent, message).await;
        match reply.map_err(|error| self.refused(&error))? {
            Reply::Message(message) => Ok(Following::Once(Some(message))),
            Reply::Task(task) => self.follow_until(task.id, Until::Settled).await,
        }
    }

    pub(super) async fn tasks(&self, wanted: &TaskQuery) -> Result<TaskListing, CliError> {
        let mut filter = TaskFilter {
            agent: wanted.agent.clone(),
            state: wanted.state,
            context_id: wanted.context.clone(),
            ..TaskFilter::default()
        };
        let mut listing = TaskListing { tasks: Vec::new(), total: 0 };
        loop {
            filter.page_size = Some(wanted.limit - listing.tasks.len());
            let page = self
                .kernel
                .tasks(&self.caller, filter.clone())
                .await
                .map_err(|error| self.refused(&error))?;
            listing.total = page.total;
            listing.tasks.extend(page.tasks);
            filter.page_token = page.next_page_token;
            if filter.page_token.is_none() || listing.tasks.len() >= wanted.limit {
                return Ok(listing);
            }
        }
    }

    pub(super) async fn task(&self, id: TaskId) -> Result<Task, CliError> {
        self.kernel.task(&self.caller, id).await.map_err(|error| self.refused(&error))
    }

    pub(super) async fn cancel(&self, id: TaskId) -> Result<Task, CliError> {
        self.kernel.cancel_task(&self.caller, id).await.map_err(|error| self.refused(&error))
    }

    pub(super) async fn take_over_tasks(&self) -> Result<(), CliError> {
        self.acquaint().await;
        self.said(self.kernel.recover().await).map(drop)
    }

    pub(super) async fn follow(&self, id: TaskId) -> Result<Following, CliError> {
        self.follow_until(id, Until::Ended).await
    }

    async fn follow_until(&self, id: TaskId, until: Until) -> Result<Following, CliError> {
        let stream = self.kernel.follow(&self.caller, id, Follow { begin: Begin::Now, until }).await;
        let stream = stream.map_err(|error| self.refused(&error))?;
        Ok(Following::InProcess(Box::new(stream), self.caller.trace))
    }

    pub(super) fn explain(&self, agent: &AgentName, tool: &ToolName) -> Result<Explanation, CliError> {
        self.kernel.explain(&self.caller, agent, tool).map_err(|error| self.refused(&error))
    }

    fn message(&self, message: Outgoing) -> (AgentName, Message) {
        let Outgoing { agent, parts, task, context, model } = message;
        let message = self.kernel.message_of_parts(None, parts);
        let message = Message { task_id: task, context_id: context, ..message };
        (agent, model.into_iter().fold(message, Message::with_model))
    }

    /// Maps a kernel error to a refusal, as the API would send it.
    pub(super) fn said<T>(&self, said: Result<T, KernelError>) -> Result<T, CliError> {
        said.map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &KernelError) -> CliError {
        CliError::refused(error, self.caller.trace)
    }
}
