//! Commands of a chat, which begin with a slash. For an agent without a model, other words after a slash are names of tools.

use openfang_kernel::UsageWanted;
use openfang_types::api::{DecisionKind, UsageBy};
use openfang_types::nearest::nearest;
use openfang_types::task::Part;

use super::conversation::{Chat, check_model};
use super::figures::{dollars, tokens};
use crate::error::CliError;
use crate::output::Table;

/// A command: its name, its argument, and what it does.
const COMMANDS: [(&str, &str, &str); 9] = [
    ("/tools", "", "list the tools that the agent can use"),
    ("/model", "[PROVIDER/MODEL]", "show the model, or choose another one for this chat; `default` goes back"),
    ("/cost", "", "show what this chat took, and what the agent took today"),
    ("/compact", "", "replace the conversation so far by a summary, to make room"),
    ("/approve", "[ID]", "approve the call that waits"),
    ("/deny", "[ID]", "deny the call that waits"),
    ("/budget", "[+AMOUNT]", "show the limits of a run, or go on with that much more, such as +0.50"),
    ("/clear", "", "begin a new conversation"),
    ("/help", "", "list these commands"),
];

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatLine<'a> {
    Message,
    /// A command and its argument.
    Command(&'static str, &'a str),
    /// No command, and which one may be meant.
    Unknown(Option<&'static str>),
}

/// What follows from a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NextStep {
    /// The next line is read.
    Read,
    /// A message is sent.
    Send(Vec<Part>),
    /// A decision is taken on the call whose id begins so, or on the only one.
    Decide(DecisionKind, String),
}

/// Tells a command from a message.
pub(super) fn parse(line: &str, has_model: bool) -> ChatLine<'_> {
    let line = line.trim_end();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_word =
        |word: &str| word.len() > 1 && word[1..].chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !word.starts_with('/') || !is_word(word) {
        return ChatLine::Message;
    }
    let names = || COMMANDS.iter().map(|(name, ..)| *name);
    match names().find(|name| *name == word) {
        Some(name) => ChatLine::Command(name, rest.trim()),
        // `/tool_name {json}` calls a tool.
        None if !has_model => ChatLine::Message,
        None => ChatLine::Unknown(nearest(word, names())),
    }
}

/// The commands that begin so.
pub(super) fn beginning_with(typed: &str) -> Vec<String> {
    let begins = |name: &&str| !typed.is_empty() && name.starts_with(typed);
    COMMANDS.iter().map(|(name, ..)| *name).filter(begins).map(str::to_owned).collect()
}

impl Chat<'_> {
    /// Carries out a command.
    pub(super) async fn command(&mut self, name: &str, argument: &str) -> Result<NextStep, CliError> {
        match name {
            "/tools" => self.list_tools().await?,
            "/model" => self.choose_model(argument).await?,
            "/cost" => self.show_cost().await?,
            "/budget" if argument.is_empty() => self.show_budget()?,
            "/compact" | "/budget" if !self.has_model() => {
                let agent = &self.agent.agent.name;
                self.session
                    .output
                    .note(&format!("the agent {agent} has no model, so {name} has no effect"));
            }
            "/compact" => return Ok(NextStep::Send(vec![Part::text("/compact")])),
            "/budget" => return Ok(NextStep::Send(vec![Part::text(format!("/budget {argument}"))])),
            "/approve" => return Ok(NextStep::Decide(DecisionKind::Approve, argument.to_owned())),
            "/deny" => return Ok(NextStep::Decide(DecisionKind::Deny, argument.to_owned())),
            "/clear" => {
                let before = self.clear();
                let back = before.map(|context| {
                    let name = &self.agent.agent.name;
                    format!("; `{}` goes back", self.session.command(&format!("chat {name} --context {context}")))
                });
                self.session
                    .output
                    .note(&format!("a new conversation begins{}", back.unwrap_or_default()));
            }
            _ => self.help()?,
        }
        Ok(NextStep::Read)
    }

    fn help(&self) -> Result<(), CliError> {
        let mut table = Table::new(&["COMMAND", "WHAT IT DOES"]);
        for (name, argument, what) in COMMANDS {
            table.row([format!("{name} {argument}").trim_end().into(), what.into()]);
        }
        self.session.output.table(&table)?;
        self.session
            .output
            .note("a line that ends with \\ goes on in the next one; Ctrl-C stops a turn, twice leaves; Ctrl-D leaves");
        Ok(())
    }

    async fn list_tools(&self) -> Result<(), CliError> {
        let tools = self.backend.tools(Some(&self.agent.agent.name)).await?;
        if tools.is_empty() {
            self.session
                .output
                .note("the agent can use no tools; `tools` under [capabilities] of its agent.toml allows some");
            return Ok(());
        }
        let mut table = Table::new(&["TOOL", "WHAT IT DOES"]);
        for tool in &tools {
            table.row([(&tool.name).into(), tool.description.lines().next().unwrap_or_default().into()]);
        }
        self.session.output.table(&table)
    }

    async fn choose_model(&mut self, wanted: &str) -> Result<(), CliError> {
        if wanted == "default" {
            self.model = None;
        } else if !wanted.is_empty() {
            check_model(&self.agent, wanted)?;
            self.backend.model(wanted).await?;
            self.model = Some(wanted.to_owned());
        }
        match self.model_name() {
            Some(model) => self.session.output.text(&model),
            None => self.session.output.text("the agent has no model"),
        }
    }

    async fn show_cost(&self) -> Result<(), CliError> {
        let (output, totals) = (&self.session.output, &self.totals);
        let cost = match totals.is_partial {
            true if totals.cost_usd > 0.0 => {
                format!("{} and more, because not all prices are known", dollars(totals.cost_usd))
            }
            true => "unknown, because the price of the model is not known".to_owned(),
            false => dollars(totals.cost_usd),
        };
        output.text(&format!(
            "this chat: {} in ({} cached), {} out, {} turns, {} steps, cost {cost}",
            tokens(totals.input_tokens),
            tokens(totals.cached_tokens),
            tokens(totals.output_tokens),
            totals.turns,
            totals.steps
        ))?;
        let wanted = UsageWanted { by: UsageBy::Agent, days: 1, is_of_all: false };
        let usage = self.backend.usage(wanted).await?;
        let name = self.agent.agent.name.as_str();
        let Some(today) = usage.rows.iter().find(|row| row.key == name) else { return Ok(()) };
        output.text(&format!(
            "{name} today (UTC): {} in ({} cached), {} out, {} answers, {} questions, cost {}",
            tokens(today.input_tokens),
            tokens(today.cached_tokens),
            tokens(today.output_tokens),
            today.answers,
            today.questions,
            dollars(today.cost_usd)
        ))
    }

    fn show_budget(&self) -> Result<(), CliError> {
        let resources = &self.agent.agent.resources;
        let mut limits = vec![format!("{} requests", resources.max_steps), format!("{} s", resources.max_secs)];
        limits.extend(resources.max_tokens_per_run.map(|limit| format!("{limit} tokens")));
        limits.extend(resources.max_cost_per_run_usd.map(|limit| dollars(limit.as_f64())));
        self.session.output.text(&format!("a run may take {}", limits.join(", ")))?;
        self.session
            .output
            .note("`/budget +0.50` goes on with $0.50 more, `/budget +20000 tokens` with more tokens");
        Ok(())
    }
}

#[cfg(test)]
#[path = "slash_tests.rs"]
mod tests;
