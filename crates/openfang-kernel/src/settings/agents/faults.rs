//! What is wrong with a manifest, beside its values: its name, its tools, its models.

use std::path::Path;

use openfang_model::ModelTable;
use openfang_runtime::answerer::direct::text_parameter;
use openfang_runtime::mcp::is_mcp_tool;
use openfang_types::agent::{AgentManifest, ManifestProblem, Provider};
use openfang_types::capability::any_covers;

use super::AgentSurroundings;
use crate::settings::providers::{self, ModelWay};

/// What the types cannot refuse by themselves: the key, and what is wrong with it.
pub(super) fn of(manifest: &AgentManifest, place: &Path, around: &AgentSurroundings<'_>) -> Option<ManifestProblem> {
    let directory = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if manifest.name.as_str() != directory {
        return says("name", format!("must equal the name of its directory, {directory}"));
    }
    of_providers(manifest, around)
        .or_else(|| manifest.problem())
        .or_else(|| of_models(manifest, around))
        .or_else(|| of_default_tool(manifest, around))
}

fn says(key: &str, why: impl Into<String>) -> Option<ManifestProblem> {
    Some((key.to_owned(), why.into()))
}

fn of_default_tool(manifest: &AgentManifest, around: &AgentSurroundings<'_>) -> Option<ManifestProblem> {
    let tool = manifest.default_tool.as_ref()?;
    if manifest.model.provider != Provider::Direct {
        return says("default_tool", "is for provider = \"direct\" only");
    }
    // What a server has is known when it is connected, and may change.
    if is_mcp_tool(tool.as_str()) {
        return None;
    }
    let Some(registered) = around.catalog.get(tool) else {
        return says("default_tool", format!("there is no tool {tool}"));
    };
    if !any_covers(&manifest.capabilities.tools, &registered.traits) {
        return says("default_tool", format!("{tool} is not among the agent's [capabilities] tools"));
    }
    if text_parameter(&registered.definition()).is_none() {
        return says("default_tool", format!("{tool} does not have exactly one text parameter"));
    }
    None
}

/// A provider that nobody knows is said before what its model lacks.
fn of_providers(manifest: &AgentManifest, around: &AgentSurroundings<'_>) -> Option<ManifestProblem> {
    let first = ("model.provider".to_owned(), &manifest.model.provider);
    let others = manifest.fallback_models.iter().enumerate();
    let others = others.map(|(index, entry)| (format!("fallback_models[{index}].provider"), &entry.provider));
    [first].into_iter().chain(others).find_map(|(key, provider)| match provider {
        Provider::Named(name) => Some((key, providers::unknown_provider(around.config, name)?)),
        Provider::Direct | Provider::Script | Provider::External | Provider::Auto => None,
    })
}

/// Each model must have a way to it, and a price where money is limited.
fn of_models(manifest: &AgentManifest, around: &AgentSurroundings<'_>) -> Option<ManifestProblem> {
    let mut ways = Vec::new();
    for (section, choice) in providers::choices(manifest) {
        match providers::way(around.config, choice) {
            Ok(way) => ways.push(way),
            Err(problem) => return says(&format!("{section}.{}", problem.key), problem.why),
        }
    }
    let (key, _) = manifest.resources.money().next()?;
    let table = ModelTable::builtin();
    let has_price =
        |way: &&ModelWay| providers::facts(around.config, table, way).is_some_and(|facts| facts.price.is_some());
    let unpriced = ways.iter().find(|way| !has_price(way))?;
    says(
        key,
        format!(
            "the price of {}/{} is not known, so its cost cannot be limited; add [models.{:?}] with price = \
             {{ input = DOLLARS, output = DOLLARS }} for a million tokens to config.toml",
            unpriced.provider,
            unpriced.model,
            unpriced.model.as_str()
        ),
    )
}
