//! The few attributes that matter, of the element that is being read. All others are passed over, so an element with a million
//! of them takes no memory.

use openfang_types::limits::{WEB_LINK_MAX_BYTES, WEB_LIST_NUMBER_MAX};

/// An attribute that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Href,
    Src,
    Alt,
    Style,
    Hidden,
    AriaHidden,
    Width,
    Height,
    Start,
}

const NAMES: usize = 9;

impl Name {
    fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"href" => Self::Href,
            b"src" => Self::Src,
            b"alt" => Self::Alt,
            b"style" => Self::Style,
            b"hidden" => Self::Hidden,
            b"aria-hidden" => Self::AriaHidden,
            b"width" => Self::Width,
            b"height" => Self::Height,
            b"start" => Self::Start,
            _ => return None,
        })
    }
}

/// The attributes of one element, the first of each name.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    values: [Option<String>; NAMES],
    /// The attribute whose value comes next.
    reading: Option<Name>,
}

impl Attributes {
    pub(super) fn clear(&mut self) {
        self.values.iter_mut().for_each(|value| *value = None);
        self.reading = None;
    }

    pub(super) fn name(&mut self, name: &[u8]) {
        self.reading = Name::of(name).filter(|name| self.get(*name).is_none());
        if let Some(name) = self.reading {
            self.values[name as usize] = Some(String::new());
        }
    }

    /// Takes a value, or a piece of it. Of a long one only the beginning is kept.
    pub(super) fn value(&mut self, value: &str) {
        if let Some(known) = self.reading.and_then(|name| self.values[name as usize].as_mut()) {
            let room = WEB_LINK_MAX_BYTES.saturating_sub(known.len());
            known.push_str(&value[..value.floor_char_boundary(room)]);
        }
    }

    /// Whether the element is not to be seen.
    pub(super) fn hide(&self) -> bool {
        let style = self.get(Name::Style).map(|style| {
            let style = style.chars().filter(|c| !c.is_whitespace());
            style.map(|c| c.to_ascii_lowercase()).collect::<String>()
        });
        self.get(Name::Hidden).is_some()
            || self.get(Name::AriaHidden).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
            || style.is_some_and(|style| style.contains("display:none") || style.contains("visibility:hidden"))
    }

    /// Whether an image is one of those that only count readers.
    pub(super) fn is_pixel(&self) -> bool {
        let is_tiny = |name| self.get(name).is_some_and(|size| matches!(size.trim(), "0" | "1" | "0px" | "1px"));
        is_tiny(Name::Width) || is_tiny(Name::Height)
    }

    pub(super) fn href(&self) -> Option<&str> {
        self.get(Name::Href)
    }

    pub(super) fn src(&self) -> Option<&str> {
        self.get(Name::Src)
    }

    /// The words for an image, if it has any.
    pub(super) fn alt(&self) -> Option<&str> {
        self.get(Name::Alt).filter(|alt| !alt.trim().is_empty())
    }

    /// The number at which a list begins.
    pub(super) fn first_number(&self) -> u32 {
        let number = self.get(Name::Start).and_then(|start| start.trim().parse().ok());
        number.unwrap_or(1).min(WEB_LIST_NUMBER_MAX)
    }

    fn get(&self, name: Name) -> Option<&str> {
        self.values[name as usize].as_deref()
    }
}
