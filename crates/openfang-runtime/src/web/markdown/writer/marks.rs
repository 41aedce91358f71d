//! What can be open in a text, and how it is written.

/// Something that has a beginning and an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web::markdown) enum Mark {
    Strong,
    Emphasis,
    Struck,
    Link,
    Heading,
    Quote,
    List,
    Item,
    Row,
    Cell,
}

impl Mark {
    /// The characters on both sides of the text; none for what is not written so.
    pub(super) const fn sides(self) -> Option<&'static str> {
        match self {
            Self::Strong => Some("**"),
            Self::Emphasis => Some("*"),
            Self::Struck => Some("~~"),
            Self::Link | Self::Heading | Self::Quote | Self::List | Self::Item | Self::Row | Self::Cell => None,
        }
    }

    /// Whether what is in it stays on one line.
    pub(super) const fn is_flat(self) -> bool {
        match self {
            Self::Link | Self::Heading | Self::Cell => true,
            Self::Strong | Self::Emphasis | Self::Struck | Self::Quote | Self::List | Self::Item | Self::Row => false,
        }
    }

    /// Whether an end of `self` that is searched may not be found below an open `other`.
    pub(super) const fn stays_within(self, other: Self) -> bool {
        match self {
            Self::Strong | Self::Emphasis | Self::Struck | Self::Link => match other {
                Self::Strong | Self::Emphasis | Self::Struck | Self::Link => false,
                Self::Heading | Self::Quote | Self::List | Self::Item | Self::Row | Self::Cell => true,
            },
            Self::Item => matches!(other, Self::List | Self::Cell),
            Self::Heading | Self::Quote | Self::List => matches!(other, Self::Cell),
            Self::Row | Self::Cell => false,
        }
    }
}
