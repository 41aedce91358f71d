//! What is wrong with a manifest although every value is right in itself.

use super::trigger::Trigger;
use super::{AgentManifest, Capabilities, FallbackModel, FlowMode, ModelConfig, Provider};
use crate::config::is_own_variable;
use crate::limits::{
    AGENT_TAG_MAX_CHARS, AGENT_TAGS_MAX, AGENT_TEXT_MAX_BYTES, ANSWER_MOST_TOKENS, FALLBACK_MODELS_MAX,
    PINNED_TOOLS_MAX, RUN_MOST_SECS, RUN_MOST_STEPS, TRIGGER_MESSAGE_MAX_BYTES, TRIGGERS_PER_AGENT,
};

/// A key, and what is wrong with its value.
pub type ManifestProblem = (String, String);

impl AgentManifest {
    /// The first problem that the types cannot detect.
    pub fn problem(&self) -> Option<ManifestProblem> {
        let first = match self.model.provider.has_model() {
            true => of_model(self),
            false => without_model(self).or_else(|| of_script(&self.model)),
        };
        let first = first.or_else(|| of_tags(&self.tags)).or_else(|| of_pinned(&self.capabilities));
        first.or_else(|| super::exec::problem(&self.exec)).or_else(|| of_triggers(&self.triggers))
    }
}

fn says(key: &str, why: impl Into<String>) -> Option<ManifestProblem> {
    Some((key.to_owned(), why.into()))
}

/// Keys that do nothing without a model are mistakes.
fn without_model(agent: &AgentManifest) -> Option<ManifestProblem> {
    let plain = ModelConfig { script: agent.model.script.clone(), ..ModelConfig::of(agent.model.provider.clone()) };
    let model = [
        ("model.model", agent.model.model != plain.model),
        ("model.system_prompt", agent.model.system_prompt != plain.system_prompt),
        ("model.system_prompt_file", agent.model.system_prompt_file != plain.system_prompt_file),
        ("model.max_tokens", agent.model.max_tokens != plain.max_tokens),
        ("model.temperature", agent.model.temperature != plain.temperature),
        ("model.reasoning", agent.model.reasoning != plain.reasoning),
        ("model.api_key_env", agent.model.api_key_env != plain.api_key_env),
        ("model.base_url", agent.model.base_url != plain.base_url),
        ("model.tool_choice", agent.model.tool_choice != plain.tool_choice),
        ("model.show_thinking", agent.model.show_thinking != plain.show_thinking),
        ("model.hosted_tools", agent.model.hosted_tools != plain.hosted_tools),
        ("fallback_models", !agent.fallback_models.is_empty()),
        ("resources", agent.resources != Default::default()),
        ("flow", agent.flow != Default::default()),
        ("output", agent.output.is_some()),
    ];
    let (key, _) = model.into_iter().find(|(_, is_set)| *is_set)?;
    says(key, format!("is for agents with a model; provider = {:?} has none", agent.model.provider.as_str()))
}

fn of_script(model: &ModelConfig) -> Option<ManifestProblem> {
    match (&model.script, &model.provider) {
        (Some(_), Provider::Direct | Provider::External | Provider::Auto | Provider::Named(_)) => {
            says("model.script", "is for provider = \"script\" only")
        }
        (Some(script), Provider::Script) => of_file("model.script", script),
        (None, _) => None,
    }
}

fn of_triggers(triggers: &[Trigger]) -> Option<ManifestProblem> {
    if triggers.len() > TRIGGERS_PER_AGENT {
        return says("triggers", format!("has at most {TRIGGERS_PER_AGENT} entries"));
    }
    let is_wrong =
        |trigger: &&Trigger| trigger.message.trim().is_empty() || trigger.message.len() > TRIGGER_MESSAGE_MAX_BYTES;
    let wrong = triggers.iter().position(|trigger| is_wrong(&trigger))?;
    says(&format!("triggers[{wrong}].message"), format!("must have 1 to {TRIGGER_MESSAGE_MAX_BYTES} bytes"))
}

fn of_file(key: &str, name: &str) -> Option<ManifestProblem> {
    let is_beside = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    if is_beside { None } else { says(key, "must be a file beside agent.toml") }
}

fn of_model(agent: &AgentManifest) -> Option<ManifestProblem> {
    let model = &agent.model;
    of_script(model)
        .or_else(|| of_choice(model))
        .or_else(|| of_instructions(model))
        .or_else(|| of_options(model))
        .or_else(|| {
            agent
                .fallback_models
                .iter()
                .enumerate()
                .find_map(|(index, entry)| of_fallback(index, entry))
        })
        .or_else(|| {
            let is_too_long = agent.fallback_models.len() > FALLBACK_MODELS_MAX;
            is_too_long.then(|| says("fallback_models", format!("there are more than {FALLBACK_MODELS_MAX}")))?
        })
        .or_else(|| of_resources(agent))
        .or_else(|| of_flow(agent))
        .or_else(|| of_file("output.schema", &agent.output.as_ref()?.schema))
}

/// Which model it is, and how it is reached.
fn of_choice(model: &ModelConfig) -> Option<ManifestProblem> {
    if model.provider == Provider::Auto {
        let keys = [
            ("model.model", model.model.is_some()),
            ("model.api_key_env", model.api_key_env.is_some()),
            ("model.base_url", model.base_url.is_some()),
        ];
        let (key, _) = keys.into_iter().find(|(_, is_set)| *is_set)?;
        return says(key, "cannot be used with provider = \"auto\"; name the provider");
    }
    if model.model.is_none() {
        let why = format!("must be set with provider = {:?}, such as model = \"NAME\"", model.provider.as_str());
        return says("model.model", why);
    }
    of_way("model", model.api_key_env.as_deref(), model.base_url.as_deref())
}

fn of_fallback(index: usize, entry: &FallbackModel) -> Option<ManifestProblem> {
    let key = format!("fallback_models[{index}]");
    match &entry.provider {
        Provider::Named(_) => of_way(&key, entry.api_key_env.as_deref(), entry.base_url.as_deref()),
        Provider::Direct | Provider::Script | Provider::External | Provider::Auto => {
            let why = "must name a provider of models, such as anthropic or ollama";
            says(&format!("{key}.provider"), why)
        }
    }
}

fn of_way(section: &str, key_variable: Option<&str>, base_url: Option<&str>) -> Option<ManifestProblem> {
    let of_variable = key_variable.and_then(variable_problem);
    let of_url = base_url.and_then(base_url_problem);
    of_variable
        .and_then(|why| says(&format!("{section}.api_key_env"), why))
        .or_else(|| of_url.and_then(|why| says(&format!("{section}.base_url"), why)))
}

/// Why an API key is not taken from a variable of this name.
pub fn variable_problem(name: &str) -> Option<String> {
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if !is_name {
        return Some("must be the name of an environment variable, such as ANTHROPIC_API_KEY".to_owned());
    }
    is_own_variable(name).then(|| format!("{name} is a variable of OpenFang itself, which no provider may have"))
}

/// Why a text is no base URL of a provider.
pub fn base_url_problem(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_plain = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && url.bytes().all(|b| b.is_ascii_graphic())
        && !url.contains(['?', '#', '@', '$']);
    if is_plain {
        return None;
    }
    let why = "must be an http or https URL without a login, a query or a variable, such as http://127.0.0.1:8080/v1";
    Some(why.to_owned())
}

fn of_instructions(model: &ModelConfig) -> Option<ManifestProblem> {
    if model.system_prompt.is_some() && model.system_prompt_file.is_some() {
        return says("model.system_prompt_file", "cannot be used together with system_prompt; keep one of them");
    }
    if model.system_prompt.as_ref().is_some_and(|text| text.len() > AGENT_TEXT_MAX_BYTES) {
        return says("model.system_prompt", format!("is longer than {AGENT_TEXT_MAX_BYTES} bytes"));
    }
    of_file("model.system_prompt_file", model.system_prompt_file.as_ref()?)
}

fn of_options(model: &ModelConfig) -> Option<ManifestProblem> {
    if model.max_tokens.is_some_and(|tokens| !(1..=ANSWER_MOST_TOKENS).contains(&tokens)) {
        return says("model.max_tokens", format!("must be between 1 and {ANSWER_MOST_TOKENS}"));
    }
    if !model.hosted_tools.is_empty() {
        let why = "tools that a provider runs itself cannot be used; give the agent tools under [capabilities]";
        return says("model.hosted_tools", why);
    }
    None
}

fn of_resources(agent: &AgentManifest) -> Option<ManifestProblem> {
    let resources = &agent.resources;
    if let Some((key, _)) = resources.counts().find(|(_, limit)| *limit == 0) {
        return says(key, "must be at least 1");
    }
    if let Some((key, _)) = resources.money().find(|(_, limit)| limit.nano() == 0) {
        return says(key, "must be more than 0");
    }
    if let Some((key, _)) = resources.counts().find(|(_, limit)| *limit > i64::MAX.unsigned_abs()) {
        return says(key, "is too large");
    }
    if resources.max_secs > RUN_MOST_SECS {
        return says("resources.max_secs", "must be at most 7 days");
    }
    if resources.max_steps > RUN_MOST_STEPS {
        return says("resources.max_steps", format!("must be at most {RUN_MOST_STEPS}"));
    }
    None
}

fn of_flow(agent: &AgentManifest) -> Option<ManifestProblem> {
    match agent.flow.mode {
        FlowMode::Labels => None,
        FlowMode::Sealed => says("flow.mode", "\"sealed\" does not exist; use \"labels\""),
    }
}

fn of_pinned(capabilities: &Capabilities) -> Option<ManifestProblem> {
    let number = capabilities.pinned.len();
    if number > PINNED_TOOLS_MAX {
        return says(
            "capabilities.pinned",
            format!("has {number} tools, and at most {PINNED_TOOLS_MAX} can be pinned"),
        );
    }
    None
}

fn of_tags(tags: &[String]) -> Option<ManifestProblem> {
    if tags.len() > AGENT_TAGS_MAX {
        return says("tags", format!("there are more than {AGENT_TAGS_MAX}"));
    }
    let is_tag = |tag: &&String| {
        !tag.trim().is_empty() && tag.chars().count() <= AGENT_TAG_MAX_CHARS && !tag.chars().any(char::is_control)
    };
    let wrong = tags.iter().position(|tag| !is_tag(&tag))?;
    says(&format!("tags[{wrong}]"), format!("must be a word of at most {AGENT_TAG_MAX_CHARS} characters"))
}

#[cfg(test)]
#[path = "problems_tests.rs"]
mod tests;
