//! The labels of a value, each with its sources.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Label;
use crate::limits::{LABEL_SOURCE_BYTES, LABEL_SOURCES, LABEL_SOURCES_SHOWN};

/// A set of labels, each with the sources that brought it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Labels(Vec<Sourced>);

/// A label and what brought it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sourced {
    label: Label,
    sources: Sources,
}

/// What brought a label: at most 16 distinct sources in the order of their names, and whether there were more. Which 16
/// stay does not depend on the order in which they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources(SourceSet);

/// One source is what nearly every label has, so it takes no list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SourceSet {
    One(Arc<str>),
    Several(Arc<Several>),
}

/// Two sources or more.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Several {
    names: Vec<Arc<str>>,
    /// Whether there were others.
    many: bool,
}

impl Labels {
    /// The empty set of labels.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// One label with one source.
    pub fn one(label: Label, source: impl Into<Arc<str>> + AsRef<str>) -> Self {
        Self(vec![Sourced { label, sources: Sources::one(source) }])
    }

    /// Adds a label with its source.
    pub fn add(&mut self, label: Label, source: impl Into<Arc<str>> + AsRef<str>) {
        match self.0.iter_mut().find(|held| held.label == label) {
            Some(held) => held.sources.add(source),
            None => self.insert(Sourced { label, sources: Sources::one(source) }),
        }
    }

    /// Adds a label with all its sources.
    pub fn add_all(&mut self, label: Label, sources: &Sources) {
        match self.0.iter_mut().find(|held| held.label == label) {
            Some(held) => held.sources.join(sources),
            None => self.insert(Sourced { label, sources: sources.clone() }),
        }
    }

    /// The join: everything either side carries.
    pub fn join(&mut self, other: &Self) {
        for held in &other.0 {
            self.add_all(held.label, &held.sources);
        }
    }

    /// The join as a new set.
    #[must_use]
    pub fn joined(mut self, other: &Self) -> Self {
        self.join(other);
        self
    }

    /// Whether the label is held.
    pub fn contains(&self, label: Label) -> bool {
        self.0.iter().any(|held| held.label == label)
    }

    /// Whether a join with the other set would change nothing.
    pub fn covers(&self, other: &Self) -> bool {
        other
            .0
            .iter()
            .all(|held| self.sources(held.label).is_some_and(|sources| sources.covers(&held.sources)))
    }

    /// What brought a label.
    pub fn sources(&self, label: Label) -> Option<&Sources> {
        self.0.iter().find(|held| held.label == label).map(|held| &held.sources)
    }

    /// The labels, in order.
    pub fn iter(&self) -> impl Iterator<Item = Label> + '_ {
        self.0.iter().map(|held| held.label)
    }

    /// Whether no label is held.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn insert(&mut self, new: Sourced) {
        let place = self.0.partition_point(|held| held.label < new.label);
        self.0.insert(place, new);
    }
}

impl Sources {
    fn one(source: impl Into<Arc<str>> + AsRef<str>) -> Self {
        Self(SourceSet::One(match cut(source.as_ref()) {
            Cow::Borrowed(_) => source.into(),
            Cow::Owned(short) => short.into(),
        }))
    }

    /// The sources, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names().iter().map(|name| &**name)
    }

    /// Whether there were more than are kept.
    pub fn are_many(&self) -> bool {
        match &self.0 {
            SourceSet::One(_) => false,
            SourceSet::Several(several) => several.many,
        }
    }

    fn names(&self) -> &[Arc<str>] {
        match &self.0 {
            SourceSet::One(name) => std::slice::from_ref(name),
            SourceSet::Several(several) => &several.names,
        }
    }

    fn add(&mut self, source: impl Into<Arc<str>> + AsRef<str>) {
        if self.find(&cut(source.as_ref())).is_err() {
            self.join(&Self::one(source));
        }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.names().binary_search_by(|held| (**held).cmp(name))
    }

    fn covers(&self, other: &Self) -> bool {
        // Of many, the first in order are known: a later one would be among those that are not.
        let is_known = |name: &Arc<str>| match self.find(name) {
            Ok(_) => true,
            Err(place) => self.are_many() && place == LABEL_SOURCES,
        };
        (self.are_many() || !other.are_many()) && other.names().iter().all(is_known)
    }

    fn join(&mut self, other: &Self) {
        if self.covers(other) {
            return;
        }
        let mut names: Vec<Arc<str>> = self.names().iter().chain(other.names()).cloned().collect();
        names.sort_unstable();
        names.dedup();
        let many = self.are_many() || other.are_many() || names.len() > LABEL_SOURCES;
        names.truncate(LABEL_SOURCES);
        self.0 = SourceSet::Several(Arc::new(Several { names, many }));
    }
}

impl fmt::Display for Sources {
    /// The first few, and how many others there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, name) in self.iter().take(LABEL_SOURCES_SHOWN).enumerate() {
            f.write_str(if number == 0 { "" } else { ", " })?;
            f.write_str(name)?;
        }
        match self.names().len().saturating_sub(LABEL_SOURCES_SHOWN) {
            _ if self.are_many() => f.write_str(" and many more"),
            0 => Ok(()),
            others => write!(f, " and {others} more"),
        }
    }
}

/// A source with a very long name, cut at a character.
fn cut(source: &str) -> Cow<'_, str> {
    if source.len() <= LABEL_SOURCE_BYTES {
        return Cow::Borrowed(source);
    }
    let end = source.floor_char_boundary(LABEL_SOURCE_BYTES - '…'.len_utf8());
    Cow::Owned(format!("{}…", &source[..end]))
}

/// A label as it is written. What was written when a label had one source has `source` only.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LabelWithSources")]
struct Written<'a> {
    label: Label,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    source: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    many: bool,
}

impl JsonSchema for Labels {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Labels")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Written<'static>>::json_schema(generator)
    }
}

impl Serialize for Sourced {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (source, sources) = match &self.sources.0 {
            SourceSet::One(name) => (Some(Cow::Borrowed(&**name)), Vec::new()),
            SourceSet::Several(_) => (None, self.sources.iter().map(Cow::Borrowed).collect()),
        };
        Written { label: self.label, source, sources, many: self.sources.are_many() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut labels = Self::none();
        for Written { label, source, sources, many } in Vec::<Written<'de>>::deserialize(deserializer)? {
            let mut read = source.into_iter().chain(sources).map(|name| Sources::one(name.into_owned()));
            let mut all = read.next().unwrap_or_else(|| Sources::one(""));
            read.for_each(|name| all.join(&name));
            if many {
                all.0 = SourceSet::Several(Arc::new(Several { names: all.names().to_vec(), many }));
            }
            labels.add_all(label, &all);
        }
        Ok(labels)
    }
}

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;
