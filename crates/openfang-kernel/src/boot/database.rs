//! The home's own database at the start of a process: the one that the home remembers, or a first one.

use std::sync::Arc;

use openfang_store::{Node, RefusalLimits, Sqlite, Stores};
use openfang_types::ids::NodeId;

use super::BootError;
use crate::access::keys::Keys;
use crate::settings::home::Home;
use crate::settings::home::record::{HomeMemory, HomeRecord};

/// The home's own database, as this process has it open.
pub(super) struct OpenDatabase {
    pub(super) node: Node,
    pub(super) memory: Arc<HomeMemory>,
    /// Whether a process that used it before did not end in order.
    pub(super) ended_uncleanly: bool,
}

/// Opens what the home remembers to have; makes it if the home is new.
pub(super) fn open(
    home: &Home,
    node_id: NodeId,
    refusals: RefusalLimits,
) -> Result<(Stores, Keys, OpenDatabase), BootError> {
    let mut record = HomeRecord::read(home)?;
    // A second process must not take what the first one is making for what is left of a loss.
    let _first = match record {
        None => Some(home.first_start()?),
        Some(_) => None,
    };
    if record.is_none() {
        record = HomeRecord::read(home)?;
    }
    let path = home.database();
    let node = Node::register(&home.nodes(), node_id)?;
    let ended_uncleanly = node.has_dead()?;
    let sqlite = match &record {
        Some(HomeRecord { id: Some(id), .. }) => Sqlite::open_known(&path, node_id, *id)?,
        // The operator gave the former one up.
        Some(HomeRecord { id: None, .. }) => Sqlite::open(&path, node_id)?,
        // A home of an earlier version, which remembered nothing.
        None if home.has_had_database() => Sqlite::open_existing(&path, node_id)?,
        None => Sqlite::open(&path, node_id)?,
    };
    let keys = Keys::of(home, record.as_ref())?;
    let record = HomeRecord { id: Some(sqlite.home()), secret_key: Some(keys.id()), ..record.unwrap_or_default() };
    let memory = Arc::new(HomeMemory::open(home, record)?);
    Ok((sqlite.stores_with(refusals), keys, OpenDatabase { node, memory, ended_uncleanly }))
}
