//! The skills of MCP servers on the aggregate, under `skill://SERVER/` and what the server wrote behind its own `skill://`. The
//! digest of every file that is read is held against the list. A file with another one is not handed on, and its skill is left
//! out until the server lists it otherwise.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_mcp::McpError;
use openfang_mcp::content::ResourceContents;
use openfang_mcp::host::{Call, Outcome};
use openfang_mcp::skills::{SkillEntry, SkillResource, SkillResources};
use openfang_runtime::context::CallContext;
use openfang_runtime::server_call::ServerResource;
use openfang_runtime::skills::{SKILL_FILE, SkillFiles, SkillPackage, hex_digest};
use openfang_types::call::Arguments;
use openfang_types::ids::{ServerName, SkillName};
use openfang_types::limits::{SERVER_SKILLS_MAX, SKILL_FILES_MAX, SKILL_MAX_BYTES};
use openfang_types::principal::Door;
use serde::Deserialize;

use super::servers::may_read;
use crate::doors::Doors;
use crate::doors::gateway::traits_of_whole;
use crate::peers::skill_control::{FetchedSkill, SkillError};
use crate::peers::skills::InstallSource;
use crate::peers::upstreams::ConnectedServer;
use crate::{Caller, KernelError};

const SCHEME: &str = "skill://";
/// Skills of servers that are left out, at most.
const QUARANTINE_MAX: usize = 1_000;

/// The skills of servers of which a file was not what the list says.
#[derive(Default)]
pub(crate) struct SkillQuarantine {
    /// The digest of the entry, by server and URI. Another entry is another skill.
    held: Mutex<BTreeMap<(ServerName, String), String>>,
}

impl SkillQuarantine {
    fn holds(&self, server: &ServerName, entry: &SkillEntry) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(&(server.clone(), entry.uri.clone()))
            .is_some_and(|digest| *digest == digest_of(entry))
    }

    fn hold(&self, server: &ServerName, entry: &SkillEntry) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= QUARANTINE_MAX {
            held.pop_first();
        }
        held.insert((server.clone(), entry.uri.clone()), digest_of(entry));
    }
}

fn digest_of(entry: &SkillEntry) -> String {
    hex_digest(&serde_json::to_vec(entry).unwrap_or_default())
}

/// The skills of the servers that a caller may use, under their URIs here.
pub(super) fn entries(doors: &Doors, cx: &CallContext) -> Vec<SkillEntry> {
    let offered = doors.inner.upstreams.offerings().current();
    let allowed = offered.allowed(|server| may_read(cx, server));
    allowed.iter().flat_map(|offer| entries_of(doors, &offer.server)).collect()
}

fn entries_of(doors: &Doors, server: &ConnectedServer) -> Vec<SkillEntry> {
    let (name, snapshot) = (&server.entry.name, server.upstream().snapshot());
    let listed = snapshot.manifest.skills.entries();
    let skills = listed.take(SERVER_SKILLS_MAX).filter_map(|entry| checked(&entry.json()));
    skills
        .filter(|skill| !doors.inner.skill_quarantine.holds(name, skill))
        .filter_map(|skill| renamed(name, skill))
        .collect()
}

/// An entry that follows the rules; none where one does not.
fn checked(json: &str) -> Option<SkillEntry> {
    let entry: SkillEntry = serde_json::from_str(json).ok()?;
    let directory = entry.uri.strip_suffix(SKILL_FILE)?;
    let segment = directory.trim_end_matches('/').rsplit('/').next()?;
    let name: SkillName = entry.frontmatter.get("name")?.as_str()?.parse().ok()?;
    if segment != name.as_str() || !is_plain(&entry.uri) || entry.frontmatter.get("description")?.as_str()?.is_empty() {
        return None;
    }
    if let SkillResources::Listed(files) = &entry.resources {
        let sizes = files.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.size))?;
        let is_fine =
            |file: &SkillResource| file.uri.starts_with(directory) && is_plain(&file.uri) && file.sha256().is_some();
        let has_itself = files.iter().any(|file| file.uri == entry.uri);
        if files.len() > SKILL_FILES_MAX || sizes > SKILL_MAX_BYTES as u64 || !has_itself || !files.iter().all(is_fine)
        {
            return None;
        }
    }
    Some(entry)
}

/// Whether a URI is what it looks like: no way up, no hidden separators.
fn is_plain(uri: &str) -> bool {
    let small = uri.to_ascii_lowercase();
    let hides = ["%2e", "%2f", "%5c", "%00", "%25", "\\", "?", "#"]
        .iter()
        .any(|text| small.contains(text));
    let Some(path) = uri.strip_prefix(SCHEME) else { return false };
    !hides && path.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}

/// The same entry under the URIs that it has here.
fn renamed(server: &ServerName, mut entry: SkillEntry) -> Option<SkillEntry> {
    entry.uri = uri_here(server, &entry.uri)?;
    if let SkillResources::Listed(files) = &mut entry.resources {
        for file in files {
            file.uri = uri_here(server, &file.uri)?;
        }
    }
    Some(entry)
}

fn uri_here(server: &ServerName, uri: &str) -> Option<String> {
    // A server of that name would be taken for ourselves.
    (server.as_str() != "openfang").then_some(())?;
    Some(format!("{SCHEME}{server}/{}", uri.strip_prefix(SCHEME)?))
}

/// The server of a URI, and the URI that the server gave.
fn place_of(doors: &Doors, uri: &str) -> Option<(Arc<ConnectedServer>, String)> {
    let (server, rest) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let server = doors.inner.upstreams.get(&server.parse().ok()?)?;
    (server.entry.enabled && is_plain(uri)).then(|| (server, format!("{SCHEME}{rest}")))
}

/// The listed skill that a file belongs to.
fn skill_of(server: &ConnectedServer, uri: &str) -> Option<SkillEntry> {
    let snapshot = server.upstream().snapshot();
    let above = uri.match_indices('/').map(|(at, _)| &uri[..=at]).rev();
    let entry = above
        .into_iter()
        .find_map(|place| snapshot.manifest.skills.get(&format!("{place}{SKILL_FILE}")))?;
    checked(&entry.json())
}

/// Reads a file of a skill of a server. What is not in the list of the server is a resource like any other.
pub(super) async fn read(
    doors: &Doors,
    call: &Call<'_, Caller>,
    uri: &str,
) -> Result<Outcome<ResourceContents>, McpError> {
    let unknown = || McpError::unknown_resource(uri);
    let cx = doors.context_of(call);
    let placed = place_of(doors, uri).and_then(|(server, theirs)| Some((skill_of(&server, &theirs)?, server, theirs)));
    let Some((skill, server, theirs)) = placed else {
        return plain_read(doors, &cx, uri).await;
    };
    if doors.inner.skill_quarantine.holds(&server.entry.name, &skill) {
        return Err(unknown());
    }
    let outcome = read_at(doors, &cx, (&server, &theirs)).await?;
    let Outcome::Done(contents) = outcome else { return Ok(outcome) };
    check(doors, (&server, &skill), (&theirs, &contents))?;
    Ok(Outcome::Done(under(contents, &theirs, uri)))
}

/// A resource under the URI that its server gave. One that belongs to a listed skill is held against the list too.
async fn plain_read(doors: &Doors, cx: &CallContext, uri: &str) -> Result<Outcome<ResourceContents>, McpError> {
    let offered = doors.inner.upstreams.offerings().current();
    let server = offered.reader(uri).ok_or_else(|| McpError::unknown_resource(uri))?;
    let outcome = read_at(doors, cx, (server, uri)).await?;
    if let (Outcome::Done(contents), Some(skill)) = (&outcome, skill_of(server, uri)) {
        check(doors, (server, &skill), (uri, contents))?;
    }
    Ok(outcome)
}

async fn read_at(
    doors: &Doors,
    cx: &CallContext,
    (server, uri): (&ConnectedServer, &str),
) -> Result<Outcome<ResourceContents>, McpError> {
    let (traits, relay) = (traits_of_whole(server, "resources_read")?, server.relay());
    let resource = ServerResource { traits, relay, uri };
    let read = doors.inner.pipeline.hand_through(cx, &resource, Arguments::default()).await;
    read.map_err(|error| crate::doors::gateway::refusal(&error, McpError::unknown_resource(uri)))
}

/// Holds what was read against the list. What does not fit puts the skill into quarantine.
fn check(
    doors: &Doors,
    (server, skill): (&ConnectedServer, &SkillEntry),
    (uri, contents): (&str, &ResourceContents),
) -> Result<(), McpError> {
    let SkillResources::Listed(files) = &skill.resources else { return Ok(()) };
    let listed = files.iter().find(|file| file.uri == uri);
    let bytes = bytes_of(contents, uri);
    let fits = listed.zip(bytes.as_deref()).is_some_and(|(listed, bytes)| {
        listed.size == bytes.len() as u64 && listed.sha256() == Some(hex_digest(bytes).as_str())
    });
    if fits {
        return Ok(());
    }
    let name = &server.entry.name;
    tracing::warn!(server = %name, skill = skill.uri, file = uri, "a file of a skill is not what its server lists; the skill is left out");
    doors.inner.skill_quarantine.hold(name, skill);
    doors.inner.pipeline.catalog().announce();
    Err(McpError::InvalidParams(format!("the digest of {uri} is not the one that the MCP server {name} lists")))
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    uri: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    blob: Option<String>,
}

/// The bytes of a resource, if it is whole and alone.
fn bytes_of(contents: &ResourceContents, uri: &str) -> Option<Vec<u8>> {
    let [only] = contents.contents.as_slice() else { return None };
    let content: Content = serde_json::from_str(only.get()).ok()?;
    if !content.uri.is_empty() && content.uri != uri {
        return None;
    }
    match (content.text, content.blob) {
        (Some(text), None) => Some(text.into_bytes()),
        (None, Some(blob)) => STANDARD.decode(blob).ok(),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

/// The same contents under another URI.
fn under(contents: ResourceContents, theirs: &str, uri: &str) -> ResourceContents {
    let renamed = contents.contents.iter().map(|raw| {
        let mut value: serde_json::Value = serde_json::from_str(raw.get()).unwrap_or_default();
        if value["uri"] == theirs {
            value["uri"] = uri.into();
        }
        value
    });
    let renamed: Vec<_> = renamed.collect();
    ResourceContents { beside: contents.beside, ..ResourceContents::of(&renamed) }
}

impl Doors {
    /// Reads a whole skill of a server, file by file, each held against the list.
    pub(crate) async fn fetch_skill(
        &self,
        caller: &Caller,
        server: &ServerName,
        uri: &str,
    ) -> Result<FetchedSkill, KernelError> {
        let failed = |why: String| SkillError::Server { server: server.clone(), why };
        let known = self.inner.upstreams.get(server).filter(|known| known.entry.enabled);
        let known = known.ok_or_else(|| failed("there is no server of that name, or it is disabled".to_owned()))?;
        self.inner.upstreams.acquaint().await;
        let listed = known
            .upstream()
            .snapshot()
            .manifest
            .skills
            .get(uri)
            .and_then(|entry| checked(&entry.json()));
        let skill = listed.ok_or_else(|| failed(format!("it lists no skill {uri} that can be used")))?;
        let SkillResources::Listed(files) = &skill.resources else {
            return Err(failed("it does not list the files of the skill, so they cannot be trusted".to_owned()).into());
        };
        let caller = Caller { door: Door::Cli, ..caller.clone() };
        let cx = self.inner.context(&caller);
        let directory = skill.uri.strip_suffix(SKILL_FILE).unwrap_or_default();
        let mut read = SkillFiles::default();
        for file in files {
            let outcome = read_at(self, &cx, (&known, &file.uri)).await.map_err(|error| failed(error.to_string()))?;
            let Outcome::Done(contents) = outcome else {
                return Err(failed("it asks a question before it gives a file".to_owned()).into());
            };
            check(self, (&known, &skill), (&file.uri, &contents)).map_err(|error| failed(error.to_string()))?;
            let bytes = bytes_of(&contents, &file.uri).unwrap_or_default();
            let path = file.uri.strip_prefix(directory).unwrap_or_default();
            read.add(path, bytes).map_err(|fault| failed(fault.to_string()))?;
        }
        let name = skill.frontmatter.get("name").and_then(|name| name.as_str());
        let package = SkillPackage::of(&read, name).map_err(|fault| failed(fault.to_string()))?;
        if package.frontmatter != skill.frontmatter {
            return Err(failed("the frontmatter that it lists is not that of SKILL.md".to_owned()).into());
        }
        let source =
            InstallSource { shown: format!("mcp:{server}/{uri}"), server: Some((server.clone(), uri.to_owned())) };
        Ok(FetchedSkill { files: read, package, source })
    }
}

#[cfg(test)]
#[path = "server_skills_tests.rs"]
mod tests;
