//! What a registry answers, as far as it is used: lists of servers, and one server with its packages and remotes.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A page of servers.
#[derive(Debug, Deserialize)]
pub(crate) struct Listed {
    #[serde(default)]
    pub(crate) servers: Vec<Publication>,
}

/// A server, and what the registry says about it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Publication {
    pub(crate) server: ServerDocument,
    #[serde(default, rename = "_meta")]
    meta: BTreeMap<String, serde_json::Value>,
}

/// What the author of a server published.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerDocument {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) version: String,
    #[serde(default)]
    pub(crate) repository: Option<Repository>,
    #[serde(default)]
    pub(crate) packages: Vec<Package>,
    #[serde(default)]
    pub(crate) remotes: Vec<Remote>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Repository {
    #[serde(default)]
    pub(crate) url: String,
}

/// A program that can be fetched.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Package {
    pub(crate) registry_type: String,
    pub(crate) identifier: String,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) transport: Option<PackageTransport>,
    #[serde(default)]
    pub(crate) runtime_arguments: Vec<Argument>,
    #[serde(default)]
    pub(crate) package_arguments: Vec<Argument>,
    #[serde(default)]
    pub(crate) environment_variables: Vec<NamedInput>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PackageTransport {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

/// An argument of a program: a value, or a name and a value.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Argument {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(default, rename = "valueHint")]
    pub(crate) value_hint: Option<String>,
    #[serde(flatten)]
    pub(crate) input: Input,
}

/// A variable or a header.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct NamedInput {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) input: Input,
}

/// A value, or what has to be asked for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) value: Option<String>,
    #[serde(default)]
    pub(crate) default: Option<String>,
    #[serde(default)]
    pub(crate) is_required: bool,
    #[serde(default)]
    pub(crate) is_secret: bool,
}

/// A server that somebody else runs.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Remote {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) headers: Vec<NamedInput>,
}

impl Publication {
    /// A server of which no registry says anything.
    pub(crate) const fn of(server: ServerDocument) -> Self {
        Self { server, meta: BTreeMap::new() }
    }

    /// What the registry itself says: its key ends with `/official`.
    fn official(&self, member: &str) -> Option<&str> {
        let official = self.meta.iter().find(|(key, _)| key.ends_with("/official"))?.1;
        official.get(member)?.as_str()
    }

    /// When the version was published.
    pub(crate) fn published_at(&self) -> Option<&str> {
        self.official("publishedAt")
    }

    /// `active`, `deprecated` or `deleted`.
    pub(crate) fn status(&self) -> &str {
        self.official("status").unwrap_or("active")
    }
}
