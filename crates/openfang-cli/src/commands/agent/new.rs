//! `openfang agent new`: writes `agent.toml` of a new agent. With a model if one can be used, else without.

use std::fs;

use openfang_kernel::home::FirstRun;
use openfang_kernel::{check_agents, check_model, first_usable_model, missing_key, usual_key_variables};
use openfang_types::config::Config;
use openfang_types::ids::{ModelName, ProviderName};
use serde_json::json;

use crate::args::AgentNewArgs;
use crate::error::{CliError, Exit, Refusal};
use crate::session::Session;

const MANIFEST: &str = "agent.toml";
const PROMPT: &str = "You are a helpful assistant. Use your tools where they help, and answer briefly.";

pub(super) fn run(session: &Session, args: &AgentNewArgs) -> Result<Exit, CliError> {
    if session.prepare_home()? == FirstRun::Yes {
        let root = session.home.root().display();
        session
            .output
            .note(&format!("first run: created {root} with config.toml and the agent starter"));
    }
    let config = session.usable_config(&[])?.config;
    let model = choose(session, &config, args)?;
    if model.is_none() && args.prompt.is_some() {
        return Err(CliError::Usage("--prompt needs a model; add --model PROVIDER/MODEL".to_owned()));
    }
    let directory = session.home.agents().join(args.name.as_str());
    let path = directory.join(MANIFEST);
    if directory.exists() {
        let why = format!("the agent {} already exists; edit {}", args.name, path.display());
        return Err(refused("agent_exists", why));
    }
    let written = fs::create_dir_all(&directory).and_then(|()| fs::write(&path, manifest(args, model.as_ref())));
    written.map_err(|cause| refused("unwritable", format!("{} cannot be written: {cause}", path.display())))?;
    let failed = check_agents(&session.home, &config)?;
    if let Some(failed) = failed.into_iter().find(|failed| failed.name == args.name.as_str()) {
        // The agent was made a moment ago, and nobody uses it.
        let _ = fs::remove_dir_all(&directory);
        return Err(CliError::Usage(failed.reason));
    }
    let reference = model.as_ref().map(|(provider, model)| format!("{provider}/{model}"));
    if session.output.is_json() {
        session
            .output
            .document(&json!({ "agent": args.name, "path": path, "model": reference }))?;
        return Ok(Exit::Ok);
    }
    session.output.text(&format!("created {}", path.display()))?;
    tell(session, &config, args, model.as_ref());
    Ok(Exit::Ok)
}

fn refused(code: &str, message: String) -> CliError {
    CliError::Refused(Refusal { code: code.to_owned(), message, trace: None })
}

/// The provider and the model of the new agent, if it has one.
fn choose(
    session: &Session,
    config: &Config,
    args: &AgentNewArgs,
) -> Result<Option<(ProviderName, ModelName)>, CliError> {
    match &args.model {
        Some(reference) => check_model(config, reference).map(Some).map_err(CliError::Usage),
        None => Ok(first_usable_model(&session.home, config).map(|usable| (usable.provider, usable.model))),
    }
}

fn manifest(args: &AgentNewArgs, model: Option<&(ProviderName, ModelName)>) -> String {
    let mut text = format!("name = {}\n", quoted(args.name.as_str()));
    let description = args.description.as_deref().unwrap_or(match model {
        Some(_) => "A helpful assistant.",
        None => "Calls the tools that messages name.",
    });
    text.push_str(&format!("description = {}\n\n[model]\n", quoted(description)));
    match model {
        Some((provider, model)) => {
            let prompt = args.prompt.as_deref().unwrap_or(PROMPT);
            text.push_str(&format!(
                "provider = {}\nmodel = {}\nsystem_prompt = {}\n",
                quoted(provider.as_str()),
                quoted(model.as_str()),
                quoted(prompt)
            ));
        }
        None => text.push_str("provider = \"direct\"\n"),
    }
    let tools: Vec<String> = args.tools.iter().map(|pattern| quoted(&pattern.to_string())).collect();
    text.push_str(&format!("\n[capabilities]\ntools = [{}]\n", tools.join(", ")));
    text
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// What to do next.
fn tell(session: &Session, config: &Config, args: &AgentNewArgs, model: Option<&(ProviderName, ModelName)>) {
    let send = session.command(&format!("agent send {} 'TEXT'", args.name));
    match model {
        Some((provider, model)) => {
            if let Some(reason) = missing_key(&session.home, config, provider, model) {
                session.output.note(&format!("the API key of {provider} is missing: {reason}"));
            }
            session.output.note(&format!("talk to it: {send}"));
        }
        None => {
            let variables = usual_key_variables().join(", ");
            session.output.note(&format!(
                "no API key was found, so the agent has no model; set one of {variables}, or name a model with --model"
            ));
            session
                .output
                .note(&format!("call a tool through it: {send}, with TEXT as /TOOL {{json}}"));
        }
    }
    if args.tools.is_empty() {
        session
            .output
            .note("it has no tools; list patterns under [capabilities] in agent.toml, or use --tools");
    }
}
