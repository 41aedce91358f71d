//! A part of a page that is left out: where it ends, also where the page leaves out the end.

use super::tags::{Tag, is_void};

/// An element that is left out, while it is open.
pub(super) struct HiddenPart {
    name: Vec<u8>,
    /// Elements of the same name within it.
    same: u32,
    /// Elements within it that could contain it, too.
    containers: u32,
}

/// What follows after an end tag.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AfterEnd {
    Hidden,
    /// It ended with this tag.
    Over,
    /// It had ended before: the tag belongs to what is around it.
    OverBefore,
}

impl HiddenPart {
    pub(super) fn begin(name: &[u8]) -> Self {
        Self { name: name.to_vec(), same: 0, containers: 0 }
    }

    /// Looks at a start tag. Whether the part has ended before it.
    pub(super) fn is_ended_by_start(&mut self, name: &[u8], tag: Tag) -> bool {
        if self.containers == 0 && ends_before(&self.name, name, tag) {
            return true;
        }
        if name == self.name {
            self.same = self.same.saturating_add(1);
        } else if self.may_lack_its_end() && !tag.is_inline() && !lacks_end(name) && !is_void(name) {
            self.containers = self.containers.saturating_add(1);
        }
        false
    }

    /// Looks at an end tag.
    pub(super) fn after_end(&mut self, name: &[u8], tag: Tag) -> AfterEnd {
        if name == self.name {
            let Some(left) = self.same.checked_sub(1) else { return AfterEnd::Over };
            self.same = left;
            return AfterEnd::Hidden;
        }
        if self.may_lack_its_end() && !tag.is_inline() && !lacks_end(name) {
            let Some(left) = self.containers.checked_sub(1) else { return AfterEnd::OverBefore };
            self.containers = left;
        }
        AfterEnd::Hidden
    }

    fn may_lack_its_end(&self) -> bool {
        lacks_end(&self.name)
    }
}

/// Elements whose end tag may be left out.
const fn lacks_end(name: &[u8]) -> bool {
    matches!(name, b"p" | b"li" | b"dt" | b"dd" | b"tr" | b"td" | b"th" | b"thead" | b"tbody" | b"tfoot")
}

/// Whether an open element has ended where another one begins.
fn ends_before(open: &[u8], next: &[u8], tag: Tag) -> bool {
    match open {
        b"p" => !tag.is_inline(),
        b"li" => next == b"li",
        b"dt" | b"dd" => matches!(next, b"dt" | b"dd"),
        b"td" | b"th" => matches!(next, b"td" | b"th" | b"tr" | b"thead" | b"tbody" | b"tfoot"),
        b"tr" => matches!(next, b"tr" | b"thead" | b"tbody" | b"tfoot"),
        b"thead" | b"tbody" | b"tfoot" => matches!(next, b"thead" | b"tbody" | b"tfoot"),
        _ => false,
    }
}
