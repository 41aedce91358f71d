//! The ids of calls as they are sent, and which answers are replayed. Every wire gets ids of plain letters that are
//! unique in the whole conversation, whichever provider made them.

use std::collections::HashSet;

use super::WireKind;
use super::parts::replayed;
use crate::answer::{NativeItems, calls};
use crate::request::{Item, ModelRequest};
use crate::schema::short_hash;

/// The longest id that all providers take.
const ID_MAX: usize = 64;

/// The ids of each item, and its native form if that is sent.
pub(super) struct CallIds<'a> {
    items: Vec<(Vec<String>, Option<&'a NativeItems>)>,
}

impl<'a> CallIds<'a> {
    /// The ids for a request. `exact` demands ids of that length without `_` and `-`. An answer is replayed with its own
    /// ids; if an earlier one has one of them, it is sent in canonical form.
    pub(super) fn new(request: &'a ModelRequest, wire: WireKind, exact: Option<usize>) -> Self {
        let mut used = HashSet::new();
        let mut items = Vec::with_capacity(request.items.len());
        let mut latest: Vec<String> = Vec::new();
        for (place, item) in request.items.iter().enumerate() {
            match &**item {
                Item::Answer { blocks, native } => {
                    let native = replayed(request, wire, native.as_ref())
                        .filter(|_| calls(blocks).all(|call| !used.contains(&call.id)));
                    let sent = calls(blocks).map(|call| match native {
                        Some(_) => own(&call.id, &mut used),
                        None => unique(&call.id, place, exact, &mut used),
                    });
                    latest = sent.collect();
                    items.push((latest.clone(), native));
                }
                Item::Results { .. } => items.push((std::mem::take(&mut latest), None)),
                Item::User { .. } => items.push((Vec::new(), None)),
            }
        }
        Self { items }
    }

    /// The ids of the calls or results of the item in this place.
    pub(super) fn of(&self, item: usize) -> &[String] {
        self.items.get(item).map_or(&[], |(ids, _)| ids.as_slice())
    }

    /// The native form of the answer in this place, if it is replayed.
    pub(super) fn native(&self, item: usize) -> Option<&'a NativeItems> {
        self.items.get(item).and_then(|(_, native)| *native)
    }
}

fn own(id: &str, used: &mut HashSet<String>) -> String {
    used.insert(id.to_owned());
    id.to_owned()
}

fn unique(id: &str, place: usize, exact: Option<usize>, used: &mut HashSet<String>) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || (exact.is_none() && matches!(letter, '_' | '-'));
    let fits = exact.map_or(id.len() <= ID_MAX, |length| id.len() == length);
    if fits && !id.is_empty() && id.chars().all(is_plain) && used.insert(id.to_owned()) {
        return id.to_owned();
    }
    let mut salt = 0_u32;
    loop {
        let made = format!("c{}", short_hash(&format!("{id}/{place}/{salt}")));
        if used.insert(made.clone()) {
            return made;
        }
        salt += 1;
    }
}
