//! What `/mcp` and `openfang mcp` show: agents and tools as tools, agents as prompts, one's own tasks as resources.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use openfang_mcp::content::{Completion, PromptResult, ResourceContents};
use openfang_mcp::host::{
    Call, CallTaskPage, ChangeFilter, Changes, Completing, HostFuture, Identity, Offers, Outcome, ResourcePage,
    TaskChoice, Ticks, ToolAnswer,
};
use openfang_mcp::listing::{Entry, Listed, Listing};
use openfang_mcp::naming::is_mcp_tool;
use openfang_mcp::{CallTask, Host, McpError};
use openfang_runtime::skills::SKILL_READ;
use openfang_runtime::task_output::TASK_TOOL;
use openfang_runtime::tool_index::ToolWords;
use openfang_runtime::tool_search::{TOOL_CALL, TOOL_SEARCH, WrappedCall};
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, ToolName};
use openfang_types::limits::MCP_PREPARED_VIEWS;
use serde_json::value::RawValue;

use super::servers::{self, ServerContents};
use super::skills::{self, ShownSkills};
use super::{View, agents, call_tasks, calls, events, results, skill_uris, task_tool, tasks, tool_search};
use crate::Caller;
use crate::doors::Doors;

/// The kernel, as a host.
pub struct KernelHost {
    pub(super) doors: Doors,
    view: View,
    /// Whether tools are found by searching, whoever the caller is.
    is_lazy: bool,
    identity: Arc<Identity>,
    /// By audience; of each the one that was made last.
    prepared: Mutex<HashMap<String, (u64, Arc<Prepared>)>>,
}

/// What one kind of caller is shown.
pub(crate) struct Prepared {
    /// The tools that can be called.
    pub(super) tools: Arc<Listing>,
    /// Those that are listed.
    listed: Arc<Listing>,
    /// Those that are not in the catalogue, where tools are searched for.
    pub(super) others: Vec<ToolWords>,
    prompts: Arc<Listing>,
    /// The resources of MCP servers.
    resources: Arc<Listing>,
    templates: Arc<Listing>,
    /// The skills, by the URIs of their instructions.
    skills: Arc<Listing>,
    /// The agents, by the name of their tool.
    agents: HashMap<String, AgentName>,
}

impl KernelHost {
    /// Shows this much of the house.
    pub(super) fn new(doors: Doors, view: View) -> Self {
        let (view, is_lazy) = match view {
            View::Lazy(inner) => (*inner, true),
            view @ (View::Agents | View::Everything | View::Agent { .. }) => (view, false),
        };
        let instructions = if is_lazy { format!("{SEARCH_FIRST} {INSTRUCTIONS}") } else { INSTRUCTIONS.to_owned() };
        let identity = Identity {
            name: "openfang".to_owned(),
            title: "OpenFang".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: Some(instructions),
            instance: None,
        };
        Self { doors, view, is_lazy, identity: Arc::new(identity), prepared: Mutex::default() }
    }

    /// Says which OpenFang it is.
    #[must_use]
    pub(super) fn of_instance(mut self, instance: String) -> Self {
        Arc::make_mut(&mut self.identity).instance = Some(instance);
        self
    }

    /// What a caller is shown; made once for all who are shown the same.
    pub(super) fn prepared(&self, caller: &Caller) -> Result<Arc<Prepared>, McpError> {
        let (audience, version) = self.audience(caller);
        if let Some((made_of, prepared)) = self.lock().get(&audience)
            && *made_of == version
        {
            return Ok(Arc::clone(prepared));
        }
        let prepared = Arc::new(self.prepare(caller)?);
        let mut known = self.lock();
        if known.len() >= MCP_PREPARED_VIEWS {
            known.clear();
        }
        known.insert(audience, (version, Arc::clone(&prepared)));
        Ok(prepared)
    }

    fn prepare(&self, caller: &Caller) -> Result<Prepared, McpError> {
        // External agents are tools of the catalogue.
        let mut agents = self.doors.inner.settings().visible_agents(&caller.principal);
        agents.retain(|agent| !agent.is_external);
        let tools: Vec<Entry> = match &self.view {
            View::Agents => self.external_agents(caller, None)?,
            // The view of a host is never lazy: that is a member of its own.
            View::Everything | View::Lazy(_) => self.usable_tools(caller, None)?,
            View::Agent { name, tools } => {
                agents.retain(|agent| agent.name == *name);
                match *tools && !agents.is_empty() {
                    true => self.usable_tools(caller, Some(name))?,
                    false => self.external_agents(caller, Some(name))?,
                }
            }
        };
        // Whoever may talk to an agent may wait for it.
        let may_wait = !agents.is_empty() || !self.external_agents(caller, self.only_agent())?.is_empty();
        let waiting = may_wait.then(task_tool::tool);
        let shown_skills = self.shown_skills(caller);
        let own = agents.iter().map(agents::tool).chain(waiting).chain(shown_skills.tool());
        let own: Vec<Entry> = own.collect();
        let is_lazy = self.searches_tools(caller);
        let others = if is_lazy { tool_search::words(&own) } else { Vec::new() };
        let tools = Arc::new(Listing::new(Listed::Tools, own.into_iter().chain(tools).collect()));
        let listed = if is_lazy { tool_search::listing() } else { Arc::clone(&tools) };
        let (prompts, resources, templates) = match self.servers() {
            Some(servers) => (servers.prompts(caller), servers.resources(caller), servers.templates(caller)),
            None => Default::default(),
        };
        let prompts = agents.iter().map(agents::prompt).chain(shown_skills.prompts()).chain(prompts).collect();
        let resources = shown_skills.resources().into_iter().chain(resources).collect();
        let templates = tasks::templates().into_iter().chain(templates).collect();
        Ok(Prepared {
            tools,
            listed,
            others,
            prompts: Arc::new(Listing::new(Listed::Prompts, prompts)),
            resources: Arc::new(Listing::new(Listed::Resources, resources)),
            templates: Arc::new(Listing::new(Listed::Templates, templates)),
            skills: Arc::new(Listing::new(Listed::Skills, shown_skills.entries())),
            agents: agents.into_iter().map(|agent| (agents::tool_name(&agent.name), agent.name)).collect(),
        })
    }

    /// The agent that alone is shown; none if all are.
    fn only_agent(&self) -> Option<&AgentName> {
        self.view.only_agent()
    }

    /// Whether this caller is shown two tools, with which it finds and calls the others.
    fn searches_tools(&self, caller: &Caller) -> bool {
        self.is_lazy || caller.principal.searches_tools()
    }

    /// Whether tasks of this agent are shown here.
    pub(super) fn shows(&self, agent: &AgentName) -> bool {
        self.only_agent().is_none_or(|only| only == agent)
    }

    /// The skills that are shown to a caller.
    fn shown_skills(&self, caller: &Caller) -> ShownSkills<'_> {
        ShownSkills::new(&self.doors, &self.view, caller)
    }

    /// Whether a caller is shown any skill.
    fn has_skills(&self, caller: &Caller) -> bool {
        let inner = &self.doors.inner;
        // Asked for every message: where there are none at all, nothing is prepared for the answer.
        let are_any =
            !inner.pipeline.catalog().skills().is_empty() || inner.upstreams.offerings().current().has_skills();
        are_any && self.prepared(caller).is_ok_and(|prepared| !prepared.skills.is_empty())
    }

    /// What MCP servers have besides tools, where that is shown.
    fn servers(&self) -> Option<ServerContents<'_>> {
        (self.view == View::Everything).then_some(ServerContents(&self.doors))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, (u64, Arc<Prepared>)>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KernelHost {
    /// Answers a call of a tool. What is called with `tool_call` goes the way that it goes without.
    async fn answer_to(
        &self,
        call: Call<'_, Caller>,
        name: &str,
        arguments: Option<&RawValue>,
    ) -> Result<ToolAnswer, McpError> {
        if !matches!(name, TOOL_CALL | TOOL_SEARCH) || !self.searches_tools(call.caller) {
            return self.call_named(call, name, arguments).await;
        }
        let json = arguments.map_or("{}", RawValue::get);
        if name == TOOL_SEARCH {
            return Ok(Outcome::Done(tool_search::search(self, call.caller, json).await?).into());
        }
        match WrappedCall::read(json) {
            Ok(wrapped) => self.call_named(call, &wrapped.name, wrapped.arguments).await,
            Err(why) => Ok(Outcome::Done(ToolOutput::error(why)).into()),
        }
    }

    /// Calls a tool: an agent, the tool for tasks, or one of the catalogue.
    async fn call_named(
        &self,
        call: Call<'_, Caller>,
        name: &str,
        arguments: Option<&RawValue>,
    ) -> Result<ToolAnswer, McpError> {
        if name.starts_with(agents::TOOL_PREFIX) {
            let prepared = self.prepared(call.caller)?;
            let agent = prepared.agents.get(name).ok_or_else(|| McpError::unknown_tool(name))?;
            return agents::call(self, call, agent, arguments).await;
        }
        if name == TASK_TOOL && self.prepared(call.caller)?.tools.get(name).is_some() {
            return Ok(task_tool::call(self, call, self.only_agent(), arguments).await?.into());
        }
        if name == SKILL_READ && self.prepared(call.caller)?.tools.get(name).is_some() {
            return self.shown_skills(call.caller).call_tool(&call, arguments).await.map(Into::into);
        }
        let tool: ToolName = name.parse().map_err(|_| McpError::unknown_tool(name))?;
        // What is shown to everybody who may use it needs no look at the list: the pipeline knows who may.
        if self.view != View::Everything && self.prepared(call.caller)?.tools.get(name).is_none() {
            return Err(McpError::unknown_tool(name));
        }
        match (self.is_external_tool(&tool), call.task) {
            (true, _) => {
                let outcome = calls::call(self, call, &tool, arguments).await?;
                call_tasks::answer_of_tool(self, call, outcome).await
            }
            (false, TaskChoice::Never) => Ok(calls::call(self, call, &tool, arguments).await?.into()),
            (false, TaskChoice::IfLong | TaskChoice::Always) => {
                Box::pin(calls::call_or_hold(self, call, &tool, arguments)).await
            }
        }
    }
}

const SEARCH_FIRST: &str = "Most tools are not listed: find them with tool_search, and call them with tool_call.";
const INSTRUCTIONS: &str = "Tools named openfang_agent_* and a2a_* are agents: send them a message in plain words and they answer \
    when they are done. An agent that works for long answers with its task: wait for it with openfang_task. Your tasks are resources under openfang://tasks/. What was cut from a result stays readable for a while, with the \
    tool result_read or under openfang://results/.";

impl Host for KernelHost {
    type Caller = Caller;

    fn identity(&self) -> Arc<Identity> {
        Arc::clone(&self.identity)
    }

    fn offers(&self, caller: &Caller) -> Offers {
        Offers {
            tools: true,
            prompts: true,
            resources: true,
            subscriptions: true,
            completions: true,
            logging: true,
            tasks: true,
            skills: self.has_skills(caller),
        }
    }

    fn owner(&self, caller: &Caller) -> String {
        caller.principal.owner().as_str().to_owned()
    }

    fn credential(&self, caller: &Caller) -> String {
        caller.principal.shown()
    }

    fn scope(&self, caller: &Caller) -> String {
        caller.principal.scope()
    }

    fn has_mirrored_arguments(&self) -> bool {
        false
    }

    fn tools<'a>(&'a self, caller: &'a Caller) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async move { Ok(Arc::clone(&self.prepared(caller)?.listed)) })
    }

    fn call_tool<'a>(
        &'a self,
        call: Call<'a, Caller>,
        name: &'a str,
        arguments: Option<&'a RawValue>,
    ) -> HostFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let answer = self.answer_to(call, name, arguments).await?;
            match (call.task, answer) {
                (TaskChoice::Always, ToolAnswer::Ended(Outcome::Done(output))) => self.doors.hold_end(&call, output),
                (_, answer) => Ok(answer),
            }
        })
    }

    fn call_tasks<'a>(&'a self, call: Call<'a, Caller>, cursor: Option<&'a str>) -> HostFuture<'a, CallTaskPage> {
        Box::pin(call_tasks::list(self, call, cursor))
    }

    fn task<'a>(&'a self, call: Call<'a, Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(async move {
            match self.doors.held_call(&call, id) {
                Some(task) => Ok(task),
                None => call_tasks::get(self, call, id).await,
            }
        })
    }

    fn settled_task<'a>(&'a self, call: Call<'a, Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(async move {
            match self.doors.settled_call(&call, id).await {
                Some(task) => Ok(task),
                None => call_tasks::settled(self, call, id).await,
            }
        })
    }

    fn answer_task<'a>(
        &'a self,
        call: Call<'a, Caller>,
        id: &'a str,
        answers: BTreeMap<String, Box<RawValue>>,
    ) -> HostFuture<'a, ()> {
        Box::pin(async move {
            match self.doors.answer_call(&call, id, &answers) {
                true => Ok(()),
                false => call_tasks::reply(self, call, id, answers).await,
            }
        })
    }

    fn cancel_task<'a>(&'a self, call: Call<'a, Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(async move {
            match self.doors.cancel_call(&call, id).await {
                Some(task) => Ok(task),
                None => call_tasks::cancel(self, call, id).await,
            }
        })
    }

    fn task_changes(&self, call: Call<'_, Caller>, id: &str) -> Option<Ticks> {
        self.doors.changes_of_call(&call, id).or_else(|| call_tasks::changes(self, call, id))
    }

    fn prompts<'a>(&'a self, caller: &'a Caller) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async move { Ok(Arc::clone(&self.prepared(caller)?.prompts)) })
    }

    fn prompt<'a>(
        &'a self,
        call: Call<'a, Caller>,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> HostFuture<'a, Outcome<PromptResult>> {
        Box::pin(async move {
            if let Some(servers) = self.servers().filter(|_| is_mcp_tool(name)) {
                return servers.prompt(call, name, arguments).await;
            }
            let prepared = self.prepared(call.caller)?;
            if skills::named_by_prompt(name).is_some() && prepared.prompts.get(name).is_some() {
                return self.shown_skills(call.caller).prompt(&call, name, arguments).await.map(Outcome::Done);
            }
            let agent =
                agents::named_by_prompt(name).filter(|agent| prepared.agents.values().any(|known| known == agent));
            let agent = agent.ok_or_else(|| McpError::unknown_prompt(name))?;
            agents::fill_in(&agent, arguments).map(Outcome::Done)
        })
    }

    fn resources<'a>(&'a self, caller: &'a Caller, cursor: Option<&'a str>) -> HostFuture<'a, ResourcePage> {
        Box::pin(async move {
            let listing = Arc::clone(&self.prepared(caller)?.resources);
            if self.servers().is_none() && listing.is_empty() {
                return tasks::list(self, caller, cursor).await;
            }
            servers::resources(self, caller, (&listing, cursor)).await
        })
    }

    fn templates<'a>(&'a self, caller: &'a Caller) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async move { Ok(Arc::clone(&self.prepared(caller)?.templates)) })
    }

    fn read<'a>(&'a self, call: Call<'a, Caller>, uri: &'a str) -> HostFuture<'a, Outcome<ResourceContents>> {
        Box::pin(async move {
            if uri == events::URI {
                return events::read(self, call.caller).await.map(Outcome::Done);
            }
            if let Some(id) = results::id_of(uri) {
                return results::read(self, call.caller, (uri, id)).await.map(Outcome::Done);
            }
            if skills::are_at(uri) {
                return self.shown_skills(call.caller).read(&call, uri).await;
            }
            match self.servers() {
                Some(servers) if !tasks::are_at(uri) => servers.read(call, uri).await,
                Some(_) | None => tasks::read(self, call.caller, uri).await.map(Outcome::Done),
            }
        })
    }

    fn skills<'a>(&'a self, caller: &'a Caller) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async move { Ok(Arc::clone(&self.prepared(caller)?.skills)) })
    }

    fn directory<'a>(&'a self, caller: &'a Caller, uri: &'a str) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async move { skill_uris::directory(&self.prepared(caller)?.skills, uri) })
    }

    fn complete<'a>(&'a self, caller: &'a Caller, asked: Completing<'a>) -> HostFuture<'a, Completion> {
        Box::pin(async move {
            if let Some(servers) = self.servers()
                && let Some(completion) = servers.complete(caller, asked).await?
            {
                return Ok(completion);
            }
            tasks::complete(self, caller, asked).await
        })
    }

    fn changes(&self, caller: &Caller, wanted: &ChangeFilter) -> Changes {
        let skills = skills::changes(&self.doors, wanted);
        let own = Box::pin(futures_util::stream::select(tasks::changes(self, caller, wanted), skills));
        match self.servers() {
            Some(servers) => Box::pin(futures_util::stream::select(own, servers.changes(caller, wanted))),
            None => own,
        }
    }
}
