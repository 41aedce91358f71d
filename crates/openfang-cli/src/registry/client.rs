//! Asking a registry, with the API v0.1.

use http::Method;
use openfang_egress::http::{HttpDoor, Request};
use openfang_types::config::Config;
use serde::de::DeserializeOwned;

use super::{Listed, Publication, RegistryRef};
use crate::error::CliError;

/// How many servers a search shows.
const FOUND: usize = 30;

/// A registry of MCP servers.
pub(crate) struct Registry {
    door: HttpDoor,
    url: String,
}

impl Registry {
    pub(crate) fn of(config: &Config) -> Result<Self, CliError> {
        let door = openfang_kernel::http_door(&config.egress)
            .map_err(|problem| CliError::Usage(format!("{}: {}", problem.key, problem.why)))?;
        Ok(Self { door, url: config.registry.url.trim_end_matches('/').to_owned() })
    }

    /// Servers whose names contain a text.
    pub(crate) async fn search(&self, text: &str) -> Result<Vec<Publication>, CliError> {
        let path = format!("/v0.1/servers?search={}&version=latest&limit={FOUND}", encoded(text));
        let listed: Listed = self.get(&path).await?;
        Ok(listed.servers)
    }

    /// One server, in the wanted version or the latest.
    pub(crate) async fn server(&self, wanted: &RegistryRef) -> Result<Publication, CliError> {
        let version = wanted.version.as_deref().unwrap_or("latest");
        let path = format!("/v0.1/servers/{}/versions/{}", encoded(&wanted.name), encoded(version));
        let found: Publication = self.get(&path).await?;
        if found.server.name != wanted.name
            || wanted.version.as_ref().is_some_and(|wanted| *wanted != found.server.version)
        {
            return Err(self.wrong("it answered with another server"));
        }
        Ok(found)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CliError> {
        let url = self
            .door
            .guard()
            .operator(&format!("{}{path}", self.url))
            .map_err(|error| self.wrong(&error))?;
        let response = self.door.send(Request::new(Method::GET, url)).await.map_err(|error| self.wrong(&error))?;
        let status = response.status;
        let body = response.body.bytes().await.map_err(|error| self.wrong(&error))?;
        if status == http::StatusCode::NOT_FOUND {
            return Err(CliError::Usage(
                "the registry has no such server; look for it with `openfang mcp search`".to_owned(),
            ));
        }
        if !status.is_success() {
            return Err(self.wrong(&format_args!("it answered with status {}", status.as_u16())));
        }
        serde_json::from_slice(&body).map_err(|_| self.wrong("its answer is not that of a registry"))
    }

    fn wrong(&self, why: &(impl std::fmt::Display + ?Sized)) -> CliError {
        CliError::Usage(format!("the registry {} cannot be used: {why}", self.url))
    }
}

/// A text as one segment of a path or one value of a query.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
