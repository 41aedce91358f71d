//! The files that the manifest of an agent with a model names: its instructions, and the schema of its answers.

use std::path::Path;
use std::sync::Arc;

use openfang_model::OutputSchema;
use openfang_runtime::models::ModelAgent;
use openfang_types::agent::AgentManifest;
use openfang_types::limits::AGENT_TEXT_MAX_BYTES;
use openfang_types::scan;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// A key of the manifest, and what is wrong with the file that it names.
type FileFault = (&'static str, String);

/// Reads the files of an agent, and adds what they say to the digest of the agent.
pub(super) fn read(manifest: &AgentManifest, place: &Path, digest: &mut Sha256) -> Result<ModelAgent, FileFault> {
    let model = &manifest.model;
    let system_prompt = match (&model.system_prompt, &model.system_prompt_file) {
        (Some(text), _) => text.clone(),
        (None, Some(name)) => text_of(&place.join(name)).map_err(|why| ("model.system_prompt_file", why))?,
        (None, None) => String::new(),
    };
    digest.update(system_prompt.len().to_be_bytes());
    digest.update(&system_prompt);
    let output = match &manifest.output {
        Some(output) => {
            let text = text_of(&place.join(&output.schema)).map_err(|why| ("output.schema", why))?;
            digest.update(&text);
            Some(schema(manifest, text).map_err(|why| ("output.schema", why))?)
        }
        None => None,
    };
    Ok(ModelAgent { system_prompt: Arc::from(system_prompt), output })
}

fn text_of(path: &Path) -> Result<String, String> {
    let found = path.metadata().map_err(|cause| format!("{} cannot be read: {cause}", path.display()))?;
    if !found.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    if found.len() > AGENT_TEXT_MAX_BYTES as u64 {
        return Err(format!("{} is larger than {AGENT_TEXT_MAX_BYTES} bytes", path.display()));
    }
    std::fs::read_to_string(path).map_err(|cause| format!("{} cannot be read: {cause}", path.display()))
}

fn schema(manifest: &AgentManifest, text: String) -> Result<OutputSchema, String> {
    scan::scan(text.as_bytes()).map_err(|error| format!("the file is not JSON: {error}"))?;
    let text = text.trim().to_owned();
    if !text.starts_with('{') {
        return Err("the file is not a JSON Schema: it must hold an object".to_owned());
    }
    let schema = RawValue::from_string(text).map_err(|error| format!("the file is not JSON: {error}"))?;
    let name = manifest.name.folded();
    Ok(OutputSchema { name, schema })
}
