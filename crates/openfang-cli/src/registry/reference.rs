//! How a server of the registry is named: `io.github.user/server`, with `@version` for one version.

use std::str::FromStr;

use openfang_types::ids::ServerName;

/// What `openfang mcp add` is asked to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AddTarget {
    /// A server of this name; its program or URL follows.
    Named(ServerName),
    Registry(RegistryRef),
}

/// A server of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegistryRef {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
}

impl FromStr for AddTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains('/') {
            return text.parse().map(Self::Named).map_err(|error| format!("{error}"));
        }
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let is_plain = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        };
        let is_name = name.split('/').count() == 2 && name.split('/').all(is_plain);
        let is_version =
            |version: &str| !version.is_empty() && version.chars().all(|c| c.is_ascii_graphic() && c != '/');
        if !is_name || !version.is_none_or(is_version) {
            return Err("a server of the registry is NAMESPACE/SERVER or NAMESPACE/SERVER@VERSION".to_owned());
        }
        Ok(Self::Registry(RegistryRef { name: name.to_owned(), version: version.map(str::to_owned) }))
    }
}

impl RegistryRef {
    /// The name that the server gets here, if none was chosen.
    pub(crate) fn server_name(&self) -> Option<ServerName> {
        self.name.rsplit('/').next()?.parse().ok()
    }
}
