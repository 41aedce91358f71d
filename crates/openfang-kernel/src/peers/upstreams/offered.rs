//! What MCP servers have besides tools, as the aggregate shows it: prompts under names of their own, resources under the
//! URIs that their servers gave them.
//!
//! A URI belongs to the server that listed it first. Another server that lists the same URI keeps it at its own endpoint.
//! What no list names is looked for among the templates, in the order in which these came.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use openfang_mcp::client::Manifest;
use openfang_mcp::listing::{Entry, Listing};
use openfang_mcp::naming::unique_names;
use openfang_types::ids::ServerName;
use openfang_types::names::Names;
use tokio::sync::watch;

use super::connected::Connected;
use prompts::NamedPrompts;
use template::UriTemplate;

mod prompts;
mod template;

pub(crate) use template::is_ours;

/// What servers have besides tools, as that changes.
#[derive(Default)]
pub(crate) struct Offerings {
    current: RwLock<Arc<Offered>>,
    /// Counts how often it was replaced.
    version: watch::Sender<u64>,
}

/// What servers have besides tools.
#[derive(Default)]
pub(crate) struct Offered {
    servers: Vec<ServerOffer>,
    /// The server and the place of each prompt, by its name here.
    prompts: HashMap<String, (usize, usize)>,
    /// Whose a URI is that several servers list.
    contested: HashMap<String, ServerName>,
    /// The templates, in the order in which they were claimed.
    templates: Vec<TemplateClaim>,
    /// How many claims of a server gave way to another server, with one of them.
    conflicts: BTreeMap<(ServerName, String), (usize, String)>,
}

/// What one server has.
pub(crate) struct ServerOffer {
    pub(crate) server: Arc<Connected>,
    prompts: Arc<NamedPrompts>,
    manifest: Arc<Manifest>,
}

struct TemplateClaim {
    text: String,
    template: UriTemplate,
    server: ServerName,
}

impl Offerings {
    /// What there is now.
    pub(crate) fn current(&self) -> Arc<Offered> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How often it was replaced.
    pub(crate) fn version(&self) -> u64 {
        *self.version.borrow()
    }

    /// Tells when it is replaced.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Looks at what the servers have. One at a time does.
    pub(super) fn look_at(&self, servers: Vec<Arc<Connected>>, longest: usize) {
        let before = self.current();
        let now = Offered::of(servers, longest, &before);
        if now.is_same_as(&before) {
            return;
        }
        now.warn_unlike(&before);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(now);
        self.version.send_modify(|version| *version += 1);
    }
}

impl ServerOffer {
    fn name(&self) -> &ServerName {
        &self.server.entry.name
    }

    /// Whether the prompts are still the same.
    pub(crate) fn has_prompts_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.server, &other.server) && Arc::ptr_eq(&self.prompts, &other.prompts)
    }

    /// Whether the resources are still the same.
    pub(crate) fn has_resources_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.server, &other.server)
            && Arc::ptr_eq(&self.manifest.resources, &other.manifest.resources)
            && Arc::ptr_eq(&self.manifest.templates, &other.manifest.templates)
            && Arc::ptr_eq(&self.manifest.skills, &other.manifest.skills)
    }
}

impl Offered {
    fn of(servers: Vec<Arc<Connected>>, longest: usize, before: &Self) -> Self {
        let manifests: Vec<_> =
            servers.iter().map(|server| Arc::clone(&server.upstream().snapshot().manifest)).collect();
        let pairs = servers
            .iter()
            .zip(&manifests)
            .flat_map(|(server, manifest)| manifest.prompts.names().map(|prompt| (server.entry.name.as_str(), prompt)));
        let mut names = unique_names(pairs, longest);
        let mut offered = Self::default();
        for (number, (server, manifest)) in servers.iter().zip(&manifests).enumerate() {
            let mut named = Names::default();
            names
                .by_ref()
                .take(manifest.prompts.entries().len())
                .for_each(|(name, _)| named.push(&name));
            let known = before.server(&server.entry.name).map(|known| &known.prompts);
            let prompts = NamedPrompts::new(&server.entry.name, &manifest.prompts, named, known);
            let places = prompts.names().enumerate().map(|(place, name)| (name.to_owned(), (number, place)));
            offered.prompts.extend(places);
            let (server, manifest) = (Arc::clone(server), Arc::clone(manifest));
            offered.servers.push(ServerOffer { server, prompts, manifest });
        }
        offered.settle_uris(before);
        offered.settle_templates(before);
        offered
    }

    /// Finds the URIs that several servers list, and says whose each is.
    fn settle_uris(&mut self, before: &Self) {
        let (mut first, mut contested, mut lost) = (HashMap::new(), HashMap::new(), Vec::new());
        for offer in &self.servers {
            for uri in offer.manifest.resources.names() {
                if is_ours(uri) {
                    lost.push((offer.name().clone(), "openfang".to_owned(), uri.to_owned()));
                    continue;
                }
                let Some(earlier) = first.insert(uri, offer) else { continue };
                // Whoever had it keeps it.
                let kept = before.exact(uri).map(ServerOffer::name);
                let kept = kept.filter(|name| self.server(name).is_some_and(|offer| offer.lists(uri)));
                let owner = contested.entry(uri.to_owned()).or_insert_with(|| kept.unwrap_or(earlier.name()).clone());
                let loser = if owner == offer.name() { earlier.name() } else { offer.name() };
                lost.push((loser.clone(), owner.to_string(), uri.to_owned()));
            }
        }
        self.contested = contested;
        lost.into_iter().for_each(|(loser, owner, what)| self.note_conflict(loser, owner, what));
    }

    /// Takes templates over in the order in which they came, and those that are new behind them.
    fn settle_templates(&mut self, before: &Self) {
        let (mut claims, mut lost): (Vec<TemplateClaim>, Vec<_>) = (Vec::new(), Vec::new());
        let kept = before.templates.iter().map(|claim| (claim.text.as_str(), claim.server.clone()));
        let kept = kept.filter(|(text, name)| self.server(name).is_some_and(|offer| offer.has_template(text)));
        let new = self
            .servers
            .iter()
            .flat_map(|offer| offer.manifest.templates.names().map(|text| (text, offer.name().clone())));
        let mut owners: HashMap<&str, ServerName> = HashMap::new();
        for (text, server) in kept.chain(new) {
            if is_ours(text) {
                lost.push((server, "openfang".to_owned(), text.to_owned()));
                continue;
            }
            match owners.get(text) {
                Some(owner) if *owner == server => {}
                Some(owner) => lost.push((server, owner.to_string(), text.to_owned())),
                None => {
                    let Some(template) = UriTemplate::of(text) else { continue };
                    owners.insert(text, server.clone());
                    claims.push(TemplateClaim { text: text.to_owned(), template, server });
                }
            }
        }
        self.templates = claims;
        lost.into_iter().for_each(|(loser, owner, what)| self.note_conflict(loser, owner, what));
    }

    fn note_conflict(&mut self, loser: ServerName, owner: String, what: String) {
        self.conflicts.entry((loser, owner)).or_insert((0, what)).0 += 1;
    }

    /// Warns of claims that gave way, once for every two servers and whenever there are more or fewer.
    fn warn_unlike(&self, before: &Self) {
        for ((server, owner), (count, uri)) in &self.conflicts {
            if before
                .conflicts
                .get(&(server.clone(), owner.clone()))
                .is_none_or(|(then, _)| then != count)
            {
                tracing::warn!(%server, %owner, count, uri, "resources of an MCP server belong to another one; they are \
                    left out on /mcp and stay at /mcp/servers/{server}");
            }
        }
    }

    fn is_same_as(&self, other: &Self) -> bool {
        let mut pairs = self.servers.iter().zip(&other.servers);
        self.servers.len() == other.servers.len()
            && pairs.all(|(one, other)| one.has_prompts_of(other) && one.has_resources_of(other))
    }

    fn server(&self, name: &ServerName) -> Option<&ServerOffer> {
        self.servers.iter().find(|offer| offer.name() == name)
    }

    /// The server that a URI belongs to because the server lists it.
    fn exact(&self, uri: &str) -> Option<&ServerOffer> {
        match self.contested.get(uri) {
            Some(name) => self.server(name),
            None => self.servers.iter().find(|offer| offer.lists(uri)),
        }
    }

    /// The server that a URI is read from.
    pub(crate) fn reader(&self, uri: &str) -> Option<&Arc<Connected>> {
        if is_ours(uri) {
            return None;
        }
        let by_template = || {
            let claim = self.templates.iter().find(|claim| claim.template.matches(uri))?;
            self.server(&claim.server)
        };
        self.exact(uri).or_else(by_template).map(|offer| &offer.server)
    }

    /// The server that has a template, or lists a resource of that URI.
    pub(crate) fn completer(&self, text: &str) -> Option<&Arc<Connected>> {
        let claim = self.templates.iter().find(|claim| claim.text == text);
        let offer = claim.and_then(|claim| self.server(&claim.server));
        offer.or_else(|| self.exact(text).filter(|_| !is_ours(text))).map(|offer| &offer.server)
    }

    /// Whether any server lists skills.
    pub(crate) fn has_skills(&self) -> bool {
        self.servers.iter().any(|offer| !offer.manifest.skills.is_empty())
    }

    /// The server of a prompt, and what the server calls it.
    pub(crate) fn prompt(&self, name: &str) -> Option<(&Arc<Connected>, &str)> {
        let (server, place) = self.prompts.get(name)?;
        let offer = self.servers.get(*server)?;
        Some((&offer.server, offer.prompts.own_name(*place)?))
    }

    /// What those servers have that are allowed.
    pub(crate) fn allowed(&self, is_allowed: impl Fn(&Connected) -> bool) -> Vec<&ServerOffer> {
        self.servers.iter().filter(|offer| is_allowed(&offer.server)).collect()
    }

    /// The prompts of a server.
    pub(crate) fn prompts_of(&self, offer: &ServerOffer) -> impl Iterator<Item = Entry> {
        offer.prompts.entries()
    }

    /// The resources of a server that are the server's on the aggregate.
    pub(crate) fn resources_of<'a>(&'a self, offer: &'a ServerOffer) -> impl Iterator<Item = Entry> + 'a {
        let is_its_own = |entry: &&Entry| {
            let owner = self.contested.get(entry.name());
            owner.is_none_or(|owner| owner == offer.name()) && !is_ours(entry.name())
        };
        offer.manifest.resources.entries().filter(is_its_own).cloned()
    }

    /// The templates of a server that are the server's on the aggregate.
    pub(crate) fn templates_of<'a>(&'a self, offer: &'a ServerOffer) -> impl Iterator<Item = Entry> + 'a {
        let claims = self.templates.iter().filter(|claim| claim.server == *offer.name());
        claims.filter_map(|claim| offer.manifest.templates.get(&claim.text).cloned())
    }
}

impl ServerOffer {
    fn lists(&self, uri: &str) -> bool {
        has(&self.manifest.resources, uri)
    }

    fn has_template(&self, text: &str) -> bool {
        has(&self.manifest.templates, text)
    }
}

fn has(listing: &Listing, name: &str) -> bool {
    listing.place_of(name).is_some()
}
