//! What a client declares that it can be asked for.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Something a client can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Filling in a form.
    ElicitationForm,
    ElicitationUrl,
    Sampling,
    Roots,
}

impl Capability {
    /// How a client declares it.
    pub fn declared(self) -> Value {
        match self {
            Self::ElicitationForm => json!({ "elicitation": { "form": {} } }),
            Self::ElicitationUrl => json!({ "elicitation": { "url": {} } }),
            Self::Sampling => json!({ "sampling": {} }),
            Self::Roots => json!({ "roots": {} }),
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ElicitationForm => "elicitation",
            Self::ElicitationUrl => "url elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        })
    }
}

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientCapabilities {
    bits: u8,
}

const ALL: [Capability; 4] =
    [Capability::ElicitationForm, Capability::ElicitationUrl, Capability::Sampling, Capability::Roots];

impl ClientCapabilities {
    pub const NONE: Self = Self { bits: 0 };

    pub fn everything() -> Self {
        let mut can = Self::NONE;
        ALL.into_iter().for_each(|capability| can.set(capability, true));
        can
    }

    /// Reads the object a client sends; what is not an object declares nothing.
    pub fn read(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Declared<'a> {
            #[serde(borrow, default)]
            elicitation: Option<&'a RawValue>,
            #[serde(borrow, default)]
            sampling: Option<&'a RawValue>,
            #[serde(borrow, default)]
            roots: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Modes<'a> {
            #[serde(borrow, default)]
            form: Option<&'a RawValue>,
            #[serde(borrow, default)]
            url: Option<&'a RawValue>,
        }
        let is_object = |raw: &&RawValue| raw.get().starts_with('{');
        let Ok(declared) = serde_json::from_str::<Declared<'_>>(raw.get()) else { return Self::NONE };
        let mut can = Self::NONE;
        if let Some(elicitation) = declared.elicitation.filter(is_object) {
            let modes = serde_json::from_str::<Modes<'_>>(elicitation.get());
            let (form, url) = modes.map(|modes| (modes.form.is_some(), modes.url.is_some())).unwrap_or_default();
            // An empty object is the old way to say "forms".
            can.set(Capability::ElicitationForm, form || !url);
            can.set(Capability::ElicitationUrl, url);
        }
        can.set(Capability::Sampling, declared.sampling.as_ref().is_some_and(is_object));
        can.set(Capability::Roots, declared.roots.as_ref().is_some_and(is_object));
        can
    }

    /// Those of it that pass a test.
    #[must_use]
    pub fn filtered(self, test: impl Fn(Capability) -> bool) -> Self {
        let mut can = Self::NONE;
        ALL.into_iter()
            .for_each(|capability| can.set(capability, self.has(capability) && test(capability)));
        can
    }

    /// How a client declares all of it.
    pub fn declared(self) -> Value {
        let mut declared = Map::new();
        if self.has(Capability::ElicitationForm) || self.has(Capability::ElicitationUrl) {
            let modes = [("form", Capability::ElicitationForm), ("url", Capability::ElicitationUrl)];
            let modes = modes.into_iter().filter(|(_, mode)| self.has(*mode));
            let modes: Map<String, Value> = modes.map(|(name, _)| (name.to_owned(), json!({}))).collect();
            declared.insert("elicitation".to_owned(), Value::Object(modes));
        }
        for (name, capability) in [("sampling", Capability::Sampling), ("roots", Capability::Roots)] {
            if self.has(capability) {
                declared.insert(name.to_owned(), json!({}));
            }
        }
        Value::Object(declared)
    }

    /// Whether the client can be asked for nothing.
    pub const fn is_none(self) -> bool {
        self.bits == 0
    }

    /// Whether the client can be asked for this.
    pub const fn has(self, capability: Capability) -> bool {
        self.bits & (1 << capability as u8) != 0
    }

    /// As one byte, to be sealed into a session id.
    pub const fn to_byte(self) -> u8 {
        self.bits
    }

    pub fn from_byte(bits: u8) -> Self {
        let mut can = Self::NONE;
        for capability in ALL {
            can.set(capability, bits & (1 << capability as u8) != 0);
        }
        can
    }

    fn set(&mut self, capability: Capability, has: bool) {
        if has {
            self.bits |= 1 << capability as u8;
        }
    }
}

#[cfg(test)]
#[path = "capabilities_tests.rs"]
mod tests;
