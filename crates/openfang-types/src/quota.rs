//! How much of a shared resource one owner may hold.
//!
//! An owner has a cap of its own. The resource has one too, as a backstop, and its last quarter is reserved for owners
//! that hold little: owners with much cannot take what the others need.

/// The caps of one resource. The unit is the resource's own: sessions, connections, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    per_owner: usize,
    in_all: usize,
    little: usize,
}

impl Quota {
    /// An owner may hold `per_owner`, all owners together `in_all`. Holding up to an eighth of the former counts as
    /// little.
    pub const fn new(per_owner: usize, in_all: usize) -> Self {
        let eighth = per_owner / 8;
        Self { per_owner, in_all, little: if eighth == 0 { 1 } else { eighth } }
    }

    /// The same, where holding up to `little` counts as little.
    #[must_use]
    pub const fn with_little(self, little: usize) -> Self {
        Self { little, ..self }
    }

    /// Whether an owner that holds `owned` may take `more`, while all owners hold `all`.
    pub const fn admits(&self, owned: usize, all: usize, more: usize) -> bool {
        let (owned, all) = (owned.saturating_add(more), all.saturating_add(more));
        let is_open = all <= self.in_all - self.in_all / 4;
        owned <= self.per_owner && (is_open || (owned <= self.little && all <= self.in_all))
    }

    /// What an owner may hold.
    pub const fn per_owner(&self) -> usize {
        self.per_owner
    }
}

#[cfg(test)]
#[path = "quota_tests.rs"]
mod tests;
