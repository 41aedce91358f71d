//! What a server has, checked: what cannot be used is left out and named, the rest stays usable.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use openfang_types::limits::{MCP_DESCRIPTION_BYTES, TOOL_NAME_MAX_BYTES};
use openfang_types::mcp_status::McpLeftOut;
use openfang_types::schema;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::discover::list;
use super::{ClientError, Connection, Mirror};
use crate::listing::{Entry, Listed, Listing};

/// What a server has.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Its tools, as it wrote them.
    pub tools: Arc<Listing>,
    /// Its prompts.
    pub prompts: Arc<Listing>,
    /// Its patterns of resources.
    pub templates: Arc<Listing>,
    /// What of it is left out.
    pub left_out: Vec<McpLeftOut>,
    mirrors: HashMap<String, Mirror>,
}

/// A manifest, to be kept in a file.
#[derive(Deserialize)]
pub struct KeptManifest {
    tools: Vec<Box<RawValue>>,
    prompts: Vec<Box<RawValue>>,
    templates: Vec<Box<RawValue>>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self::of(KeptManifest { tools: Vec::new(), prompts: Vec::new(), templates: Vec::new() })
    }
}

impl Manifest {
    /// Asks a server for all it has.
    pub async fn ask(connection: &Connection, patience: Duration) -> Result<Self, ClientError> {
        let has = connection.facts().capabilities;
        let (mut cuts, mut missing) = (Vec::new(), Vec::new());
        let mut entries = async |is_there: bool, method: &str, member: &str| {
            if !is_there {
                return Ok(Vec::new());
            }
            let pages = list(connection, method, member, patience).await?;
            cuts.extend(pages.cut.map(|why| McpLeftOut { name: method.to_owned(), why }));
            Ok::<_, ClientError>(pages.entries)
        };
        let tools = entries(has.tools, "tools/list", "tools").await?;
        let prompts = match entries(has.prompts, "prompts/list", "prompts").await {
            Err(ClientError::Refused(error)) => {
                let why = format!("it has prompts and does not list them: {}", error.message);
                missing.push(McpLeftOut { name: "prompts/list".to_owned(), why });
                Vec::new()
            }
            prompts => prompts?,
        };
        // Servers that have resources and no patterns often do not know the method.
        let templates = match entries(has.resources, "resources/templates/list", "resourceTemplates").await {
            Err(ClientError::Refused(_)) => Vec::new(),
            templates => templates?,
        };
        // There may be thousands, and schemas are looked at one by one.
        let checked = spawn_blocking(move || Self::of(KeptManifest { tools, prompts, templates })).await;
        let mut manifest = checked.map_err(|error| ClientError::NotMcp(error.to_string()))?;
        manifest.left_out.extend(cuts.into_iter().chain(missing));
        Ok(manifest)
    }

    /// A manifest that was kept, checked again.
    pub fn of(kept: KeptManifest) -> Self {
        let (mut left_out, mut mirrors) = (Vec::new(), HashMap::new());
        let mut checked = |listed, entries: Vec<Box<RawValue>>| {
            let mut names = HashSet::new();
            let mut good = Vec::with_capacity(entries.len());
            for json in entries {
                match check(listed, &json).and_then(|name| marked(name, listed, &json, &mut mirrors)) {
                    Ok(name) if names.insert(name.clone()) => good.push(Entry::new(name, json)),
                    Ok(name) => left_out.push(McpLeftOut { name, why: "the name is there twice".to_owned() }),
                    Err((name, why)) => left_out.push(McpLeftOut { name, why: why.to_owned() }),
                }
            }
            Arc::new(Listing::new(listed, good))
        };
        let tools = checked(Listed::Tools, kept.tools);
        let prompts = checked(Listed::Prompts, kept.prompts);
        let templates = checked(Listed::Templates, kept.templates);
        Self { tools, prompts, templates, left_out, mirrors }
    }

    /// The headers that repeat these arguments of a tool, where it asks for that.
    pub fn mirrored(&self, tool: &str, arguments: Option<&RawValue>) -> Vec<(HeaderName, HeaderValue)> {
        self.mirrors.get(tool).map(|mirror| mirror.headers(arguments)).unwrap_or_default()
    }
}

/// For keeping: as a [`KeptManifest`] is read.
impl Serialize for Manifest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut kept = to.serialize_struct("Manifest", 3)?;
        kept.serialize_field("tools", &Definitions(&self.tools))?;
        kept.serialize_field("prompts", &Definitions(&self.prompts))?;
        kept.serialize_field("templates", &Definitions(&self.templates))?;
        kept.end()
    }
}

/// The entries of a list, as they are.
struct Definitions<'a>(&'a Listing);

impl Serialize for Definitions<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.entries().map(Entry::json))
    }
}

/// The name of an entry that can be used, or a printable name and what is wrong with it.
fn check(listed: Listed, json: &RawValue) -> Result<String, (String, &'static str)> {
    let value: Value = serde_json::from_str(json.get()).unwrap_or_default();
    let key = if listed == Listed::Templates { "uriTemplate" } else { "name" };
    let Some(name) = value[key].as_str() else { return Err((printable(&value.to_string()), "it has no name")) };
    let refuse = |why| Err((printable(name), why));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_graphic() || (c == ' ' && listed != Listed::Tools)) {
        return refuse("its name is empty or has characters that cannot be seen or told apart");
    }
    if listed != Listed::Templates && name.len() > TOOL_NAME_MAX_BYTES {
        return refuse("its name is longer than 128 characters");
    }
    if value["description"].as_str().is_some_and(|text| text.len() > MCP_DESCRIPTION_BYTES) {
        return refuse("its description is larger than 8 KiB");
    }
    if json.get().len() > 4 * openfang_types::limits::SCHEMA_MAX_BYTES {
        return refuse("its definition is larger than 256 KiB");
    }
    if listed == Listed::Tools {
        if let Some(why) = schema::fault_of(&value["inputSchema"]) {
            return Err((printable(name), why));
        }
        if let Some(why) = value.get("outputSchema").and_then(schema::fault_of) {
            return Err((printable(name), why));
        }
    }
    Ok(name.to_owned())
}

/// Notes which arguments of a tool headers repeat; one that asks for what cannot be is not usable.
fn marked(
    name: String,
    listed: Listed,
    json: &RawValue,
    mirrors: &mut HashMap<String, Mirror>,
) -> Result<String, (String, &'static str)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tool<'a> {
        #[serde(borrow)]
        input_schema: &'a RawValue,
    }
    // Most have none, and a look at the bytes says so.
    if listed != Listed::Tools || !json.get().contains("x-mcp-header") {
        return Ok(name);
    }
    let Ok(tool) = serde_json::from_str::<Tool<'_>>(json.get()) else { return Ok(name) };
    match Mirror::of(tool.input_schema) {
        Ok(mirror) if mirror.is_empty() => {}
        Ok(mirror) => drop(mirrors.insert(name.clone(), mirror)),
        Err(_) => return Err((printable(&name), "its x-mcp-header asks for a header that cannot be sent")),
    }
    Ok(name)
}

/// A name for people to read: what cannot be seen is escaped, and it is not long.
fn printable(name: &str) -> String {
    let shown = |c: char| if c.is_ascii_graphic() || c == ' ' { c.to_string() } else { c.escape_unicode().to_string() };
    name.chars().take(64).map(shown).collect()
}

/// What a tool's definition comes to, however it is written: any change of what it says changes it.
pub fn fingerprint(definition: &RawValue) -> [u8; 32] {
    let mut value: Value = serde_json::from_str(definition.get()).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.remove("_meta");
    }
    Sha256::digest(value.to_string().as_bytes()).into()
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
