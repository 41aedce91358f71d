//! Documents with published servers, from a file or a URL: `server.json`, what a registry answers, and catalogues (AI Catalog,
//! ARD). Strangers write them, so a URL in one reaches public addresses only.

use std::path::Path;

use http::Method;
use openfang_egress::http::{Caps, HttpDoor, Request, Target};
use openfang_types::config::Config;
use openfang_types::limits::A2A_CARD_MAX_BYTES;
use openfang_types::scan::scan_text;
use serde_json::{Map, Value};

use super::{Listed, Publication};
use crate::error::CliError;
use crate::output::one_line;

/// The media type of a catalogue's entry that is an MCP server.
const MCP_SERVER_TYPE: &str = "application/mcp-server-card+json";

/// A server of a document.
#[derive(Debug)]
pub(crate) struct PublishedServer {
    /// The name under which the document has it.
    name: String,
    place: ServerPlace,
}

/// Where a server is described.
#[derive(Debug)]
enum ServerPlace {
    Here(Box<Publication>),
    At(String),
}

impl PublishedServer {
    fn here(found: Publication) -> Self {
        Self { name: found.server.name.clone(), place: ServerPlace::Here(Box::new(found)) }
    }

    /// The last part of the server's name.
    fn short_name(&self) -> &str {
        self.name.rsplit(['/', ':']).next().unwrap_or_default()
    }
}

/// Reads a document from a file or a URL, and takes the server of this name, or the only one.
pub(crate) async fn published(config: &Config, source: &str, name: &str) -> Result<Publication, CliError> {
    let door = openfang_kernel::http_door(&config.egress)
        .map_err(|problem| CliError::Usage(format!("{}: {}", problem.key, problem.why)))?;
    let unusable = |why: String| CliError::Usage(format!("{source} cannot be used: {}", one_line(&why)));
    let document = if source.starts_with("http://") || source.starts_with("https://") {
        let target = door.guard().operator(source).map_err(|error| unusable(error.to_string()))?;
        fetched(&door, target).await.map_err(unusable)?
    } else {
        file(Path::new(source)).map_err(unusable)?
    };
    let url = match chosen(servers(&document).map_err(unusable)?, name).map_err(unusable)?.place {
        ServerPlace::Here(found) => return Ok(*found),
        ServerPlace::At(url) => url,
    };
    let target = door.guard().foreign(&url).map_err(|error| unusable(error.to_string()))?;
    let document = fetched(&door, target).await.map_err(unusable)?;
    match chosen(servers(&document).map_err(unusable)?, name).map_err(unusable)?.place {
        ServerPlace::Here(found) => Ok(*found),
        ServerPlace::At(_) => Err(unusable("its catalogue leads to another catalogue".to_owned())),
    }
}

fn chosen(mut servers: Vec<PublishedServer>, name: &str) -> Result<PublishedServer, String> {
    if let Some(place) = servers.iter().position(|server| server.short_name() == name) {
        return Ok(servers.swap_remove(place));
    }
    match servers.len() {
        0 => Err("there is no MCP server in it".to_owned()),
        1 => Ok(servers.swap_remove(0)),
        count => {
            let names: Vec<&str> = servers.iter().map(PublishedServer::short_name).take(20).collect();
            Err(format!("there are {count} MCP servers in it: {}; use one of these names", names.join(", ")))
        }
    }
}

/// The servers of a document.
pub(crate) fn servers(document: &[u8]) -> Result<Vec<PublishedServer>, String> {
    let text = scan_text(document).map_err(|error| format!("it is not JSON: {error}"))?;
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let wrong = |error: serde_json::Error| format!("it is not a published server: {error}");
    if let Some(entries) = value.get("entries").and_then(Value::as_array) {
        return entries.iter().filter_map(|entry| catalogue_entry(entry).transpose()).collect();
    }
    if value.get("servers").is_some_and(Value::is_array) {
        let listed: Listed = serde_json::from_value(value).map_err(wrong)?;
        return Ok(listed.servers.into_iter().map(PublishedServer::here).collect());
    }
    if value.get("server").is_some() {
        return Ok(vec![PublishedServer::here(serde_json::from_value(value).map_err(wrong)?)]);
    }
    Ok(vec![PublishedServer::here(Publication::of(serde_json::from_value(value).map_err(wrong)?))])
}

/// An entry of a catalogue; none if it is not an MCP server.
fn catalogue_entry(entry: &Value) -> Result<Option<PublishedServer>, String> {
    let text = |member: &str| entry.get(member).and_then(Value::as_str).map(str::to_owned);
    if text("type").as_deref() != Some(MCP_SERVER_TYPE) {
        return Ok(None);
    }
    let name = text("identifier").or_else(|| text("displayName")).unwrap_or_default();
    let place = match (entry.get("data").and_then(Value::as_object), text("url")) {
        (Some(data), _) => {
            let mut server: Map<String, Value> = data.clone();
            server.entry("name").or_insert_with(|| name.as_str().into());
            server
                .entry("version")
                .or_insert_with(|| text("version").unwrap_or_else(|| "0".to_owned()).into());
            let server = serde_json::from_value(Value::Object(server));
            let server = server.map_err(|error| format!("an entry is not a published server: {error}"))?;
            ServerPlace::Here(Box::new(Publication::of(server)))
        }
        (None, Some(url)) => ServerPlace::At(url),
        (None, None) => return Err("an entry has neither data nor a URL".to_owned()),
    };
    Ok(Some(PublishedServer { name, place }))
}

async fn fetched(door: &HttpDoor, target: impl Into<Target>) -> Result<Vec<u8>, String> {
    let request = Request::new(Method::GET, target).caps(Caps { decoded_bytes: A2A_CARD_MAX_BYTES, ..Caps::default() });
    let response = door.send(request).await.map_err(|error| error.to_string())?;
    if !response.status.is_success() {
        return Err(format!("it was answered with status {}", response.status.as_u16()));
    }
    Ok(response.body.bytes().await.map_err(|error| error.to_string())?.to_vec())
}

/// A file that somebody named, up to a size.
pub(crate) fn file(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let mut document = Vec::new();
    let opened = std::fs::File::open(path).map_err(|error| error.to_string())?;
    opened
        .take(A2A_CARD_MAX_BYTES + 1)
        .read_to_end(&mut document)
        .map_err(|error| error.to_string())?;
    if document.len() as u64 > A2A_CARD_MAX_BYTES {
        return Err(format!("the file is larger than {A2A_CARD_MAX_BYTES} bytes"));
    }
    Ok(document)
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
