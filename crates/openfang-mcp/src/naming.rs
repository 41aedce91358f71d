//! The names under which the tools of other servers are listed: `mcp_{server}_{tool}`.
//!
//! The names are for showing. Routing goes by a map from the full name, never by taking a name apart.

use std::collections::{HashMap, HashSet};

use openfang_types::names::Names;
use sha2::{Digest as _, Sha256};

/// The full name of a server's tool: lower case, hyphens to underscores.
pub fn format_mcp_tool_name(server: &str, tool: &str) -> String {
    format!("mcp_{}_{}", normalised(server), normalised(tool))
}

/// Whether a tool belongs to a server.
pub fn is_mcp_tool(name: &str) -> bool {
    name.starts_with("mcp_")
}

/// The first segment behind `mcp_`, for showing: a server's own name may have underscores.
pub fn extract_mcp_server(name: &str) -> Option<&str> {
    let (server, _) = name.strip_prefix("mcp_")?.split_once('_')?;
    Some(server).filter(|server| !server.is_empty())
}

/// The name of the tool that is an agent.
pub fn format_agent_tool_name(agent: &str) -> String {
    format!("openfang_agent_{}", normalised(agent))
}

/// Whether work on a call of this tool may go on after its client has waited long enough: agents do.
pub fn may_outlive_its_client(name: &str) -> bool {
    ["openfang_agent_", "openfang_task", "a2a_"].iter().any(|begin| name.starts_with(begin))
}

/// A name for every tool of every server, in their order. A name that is taken, longer than `max`, or has characters that
/// names cannot have, ends with a short hash of what it stands for: the same tools in the same order always have the same
/// names. Where tools of two servers would have one name neither has it: whoever was allowed to use it must not find
/// another server behind it. The second value says whether a name ends with a hash.
pub fn unique_names<'a, T>(tools: T, max: usize) -> impl Iterator<Item = (String, bool)>
where
    T: IntoIterator<Item = (&'a str, &'a str), IntoIter: Clone>,
{
    let tools = tools.into_iter();
    let mut taken = NameTable::by(tools.clone(), max);
    tools.enumerate().map(move |(number, (server, tool))| taken.name_of(number, server, tool))
}

/// Which names are taken. There may be ten thousand, so they are held once.
struct NameTable {
    /// The names that the tools would have, in their order.
    plain: Names,
    /// The same by name, and the earlier of two that are alike first.
    order: Vec<usize>,
    /// Those that belong to nobody.
    contested: HashSet<String>,
    /// Those that end with a hash.
    hashed: HashSet<String>,
    max: usize,
}

impl NameTable {
    fn by<'a>(tools: impl Iterator<Item = (&'a str, &'a str)> + Clone, max: usize) -> Self {
        let sizes = tools.clone().map(|(server, tool)| server.len() + tool.len() + "mcp__".len());
        let mut plain = Names::with_room(sizes.clone().count(), sizes.sum());
        tools.clone().for_each(|(server, tool)| plain.push(&format_mcp_tool_name(server, tool)));
        let mut order: Vec<usize> = (0..plain.len()).collect();
        order.sort_by_key(|number| plain.get(*number));
        let alike = order.windows(2).filter_map(|pair| {
            let [one, other] = pair else { return None };
            plain.get(*one).filter(|name| plain.get(*other) == Some(name))
        });
        let alike: HashSet<&str> = alike.collect();
        let (mut owners, mut contested) = (HashMap::new(), HashSet::new());
        for (name, (server, _)) in plain.iter().zip(tools).filter(|(name, _)| alike.contains(name)) {
            if *owners.entry(name).or_insert(server) != server {
                contested.insert(name.to_owned());
            }
        }
        Self { plain, order, contested, hashed: HashSet::new(), max }
    }

    /// Whether a name is taken when it is the turn of the tool with this number.
    fn is_taken(&self, name: &str, number: usize) -> bool {
        let first = self
            .order
            .partition_point(|number| self.plain.get(*number).is_some_and(|plain| plain < name));
        let first = self.order.get(first).filter(|first| self.plain.get(**first) == Some(name));
        let by_earlier = self.is_usable(name) && first.is_some_and(|first| *first < number);
        by_earlier || self.contested.contains(name) || self.hashed.contains(name)
    }

    fn is_usable(&self, name: &str) -> bool {
        name.len() <= self.max && name.chars().all(can_be_in_name)
    }

    fn name_of(&mut self, number: usize, server: &str, tool: &str) -> (String, bool) {
        let plain = self.plain.get(number).unwrap_or_default();
        if self.is_usable(plain) && !self.is_taken(plain, number) {
            return (plain.to_owned(), false);
        }
        let digest = Sha256::digest(format!("{server}\0{tool}").as_bytes());
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let kept: String = plain.chars().map(|c| if can_be_in_name(c) { c } else { '_' }).collect();
        // As short as can be, and longer only for two that begin alike.
        for length in 6..=hash.len() {
            let kept: String = kept.chars().take(self.max.saturating_sub(length + 1)).collect();
            let name = format!("{kept}_{}", &hash[..length]);
            if !self.is_taken(&name, number) {
                self.hashed.insert(name.clone());
                return (name, true);
            }
        }
        (hash, true)
    }
}

const fn can_be_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn normalised(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;
