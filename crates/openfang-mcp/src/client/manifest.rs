//! What a server has, checked: what cannot be used is left out and named, the rest stays usable.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use openfang_types::mcp_status::McpLeftOut;
use serde::ser::{Error as _, SerializeSeq as _, SerializeStruct as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use super::checking::{Checked, Checking};
use super::discover::list;
use super::{ClientError, Connection, Mirror};
use crate::listing::{Listed, Listing};

/// What a server has.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Its tools, as it wrote them.
    pub tools: Arc<Listing>,
    pub prompts: Arc<Listing>,
    /// Its resources, by URI.
    pub resources: Arc<Listing>,
    /// Its patterns of resources.
    pub templates: Arc<Listing>,
    /// Its skills, by the URIs of their instructions.
    pub skills: Arc<Listing>,
    /// What of it is left out.
    pub left_out: Vec<McpLeftOut>,
    mirrors: HashMap<String, Mirror>,
}

/// A manifest, to be kept in a file.
#[derive(Deserialize, Default)]
pub struct KeptManifest<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow)]
    prompts: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    resources: Vec<&'a RawValue>,
    #[serde(borrow)]
    templates: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    skills: Vec<&'a RawValue>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self::of(KeptManifest::default())
    }
}

impl Manifest {
    /// Asks a server for all it has.
    pub async fn ask(connection: &Connection, patience: Duration) -> Result<Self, ClientError> {
        let has = connection.facts().capabilities;
        let (mut cuts, mut missing) = (Vec::new(), Vec::new());
        let mut checked = async |is_there: bool, method: &str, listed: Listed| {
            if !is_there {
                return Ok(Checking::new(listed).finish());
            }
            let pages = list(connection, (method, listed), patience).await?;
            cuts.extend(pages.cut.map(|why| McpLeftOut { name: method.to_owned(), why }));
            Ok::<_, ClientError>(pages.checked)
        };
        let tools = checked(has.tools, "tools/list", Listed::Tools).await?;
        let prompts = match checked(has.prompts, "prompts/list", Listed::Prompts).await {
            Err(ClientError::Refused(error)) => {
                let why = format!("it has prompts and does not list them: {}", error.message);
                missing.push(McpLeftOut { name: "prompts/list".to_owned(), why });
                Checking::new(Listed::Prompts).finish()
            }
            prompts => prompts?,
        };
        // Servers that have resources and no patterns often do not know the method.
        let templates = match checked(has.resources, "resources/templates/list", Listed::Templates).await {
            Err(ClientError::Refused(_)) => Checking::new(Listed::Templates).finish(),
            templates => templates?,
        };
        let skills = match checked(has.skills, "skills/list", Listed::Skills).await {
            Err(ClientError::Refused(_)) => Checking::new(Listed::Skills).finish(),
            skills => skills?,
        };
        // The list of resources may be long and slow. The server is usable without it, for as long as it takes to say so.
        let patience = patience / 4;
        let asked = timeout(patience, checked(has.resources, "resources/list", Listed::Resources)).await;
        let resources = match asked.unwrap_or(Err(ClientError::TimedOut(patience))) {
            Err(error @ (ClientError::TimedOut(_) | ClientError::NotMcp(_))) => {
                missing.push(McpLeftOut { name: "resources/list".to_owned(), why: error.to_string() });
                Checking::new(Listed::Resources).finish()
            }
            Err(ClientError::Refused(_)) => Checking::new(Listed::Resources).finish(),
            resources => resources?,
        };
        let mut manifest = Self::from_lists(tools, prompts, (resources, templates), skills);
        manifest.left_out.extend(cuts.into_iter().chain(missing));
        Ok(manifest)
    }

    /// A manifest that was kept, checked again.
    pub fn of(kept: KeptManifest<'_>) -> Self {
        let checked = |listed, entries| {
            let mut checking = Checking::new(listed);
            checking.entries(entries);
            checking.finish()
        };
        Self::from_lists(
            checked(Listed::Tools, kept.tools),
            checked(Listed::Prompts, kept.prompts),
            (checked(Listed::Resources, kept.resources), checked(Listed::Templates, kept.templates)),
            checked(Listed::Skills, kept.skills),
        )
    }

    fn from_lists(
        tools: Checked,
        prompts: Checked,
        (resources, templates): (Checked, Checked),
        skills: Checked,
    ) -> Self {
        let left_out = [tools.left_out, prompts.left_out, resources.left_out, templates.left_out, skills.left_out];
        Self {
            mirrors: tools.mirrors,
            left_out: left_out.concat(),
            tools: Arc::new(tools.listing),
            prompts: Arc::new(prompts.listing),
            resources: Arc::new(resources.listing),
            templates: Arc::new(templates.listing),
            skills: Arc::new(skills.listing),
        }
    }

    /// The headers that repeat these arguments of a tool, where it asks for that.
    pub fn mirrored(&self, tool: &str, arguments: Option<&RawValue>) -> Vec<(HeaderName, HeaderValue)> {
        self.mirrors.get(tool).map(|mirror| mirror.headers(arguments)).unwrap_or_default()
    }
}

/// For keeping: as a [`KeptManifest`] is read.
impl Serialize for Manifest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut kept = to.serialize_struct("Manifest", 5)?;
        kept.serialize_field("tools", &Definitions(&self.tools))?;
        kept.serialize_field("prompts", &Definitions(&self.prompts))?;
        kept.serialize_field("resources", &Definitions(&self.resources))?;
        kept.serialize_field("templates", &Definitions(&self.templates))?;
        kept.serialize_field("skills", &Definitions(&self.skills))?;
        kept.end()
    }
}

/// The entries of a list, as they are.
struct Definitions<'a>(&'a Listing);

impl Serialize for Definitions<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut all = to.serialize_seq(Some(self.0.entries().len()))?;
        for entry in self.0.entries() {
            let json = entry.json();
            all.serialize_element(serde_json::from_str::<&RawValue>(&json).map_err(S::Error::custom)?)?;
        }
        all.end()
    }
}

/// What a tool's definition comes to, however it is written: any change of what it says changes it.
pub fn fingerprint(definition: &str) -> [u8; 32] {
    let mut value: Value = serde_json::from_str(definition).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.remove("_meta");
    }
    Sha256::digest(value.to_string().as_bytes()).into()
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
