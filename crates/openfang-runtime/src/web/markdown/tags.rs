//! What elements of HTML mean for a text.

/// The meaning of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Heading(usize),
    Paragraph,
    /// Begins a line, as a `div` does.
    Block,
    /// A larger part of a page.
    Section,
    Break,
    Rule,
    Strong,
    Emphasis,
    Struck,
    Code,
    Preformatted,
    Quote,
    List {
        ordered: bool,
    },
    Item,
    Table,
    Row,
    Cell,
    Definition,
    Link,
    Image,
    Title,
    Base,
    /// Left out with everything in it.
    Dropped,
    /// Without a meaning of its own.
    Inline,
}

impl Tag {
    /// The meaning of the element with this name, which is in lower case.
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"h1" => Self::Heading(1),
            b"h2" => Self::Heading(2),
            b"h3" => Self::Heading(3),
            b"h4" => Self::Heading(4),
            b"h5" => Self::Heading(5),
            b"h6" => Self::Heading(6),
            b"p" => Self::Paragraph,
            b"article" | b"section" | b"main" | b"header" | b"footer" | b"nav" | b"aside" | b"body" | b"form"
            | b"fieldset" | b"figure" | b"details" | b"dl" | b"hgroup" | b"search" => Self::Section,
            b"div" | b"address" | b"center" | b"dt" | b"summary" | b"figcaption" | b"caption" | b"legend"
            | b"dialog" | b"thead" | b"tbody" | b"tfoot" => Self::Block,
            b"br" => Self::Break,
            b"hr" => Self::Rule,
            b"b" | b"strong" => Self::Strong,
            b"i" | b"em" | b"cite" | b"dfn" | b"var" => Self::Emphasis,
            b"s" | b"del" | b"strike" => Self::Struck,
            b"code" | b"kbd" | b"samp" | b"tt" => Self::Code,
            b"pre" | b"listing" | b"xmp" => Self::Preformatted,
            b"blockquote" => Self::Quote,
            b"ul" | b"menu" | b"dir" => Self::List { ordered: false },
            b"ol" => Self::List { ordered: true },
            b"li" => Self::Item,
            b"table" => Self::Table,
            b"tr" => Self::Row,
            b"td" | b"th" => Self::Cell,
            b"dd" => Self::Definition,
            b"a" => Self::Link,
            b"img" => Self::Image,
            b"title" => Self::Title,
            b"base" => Self::Base,
            b"script" | b"style" | b"noscript" | b"template" | b"svg" | b"math" | b"iframe" | b"frameset"
            | b"object" | b"embed" | b"applet" | b"canvas" | b"audio" | b"video" | b"select" | b"datalist"
            | b"textarea" | b"noembed" | b"noframes" | b"input" => Self::Dropped,
            _ => Self::Inline,
        }
    }

    /// Whether it stands in a line of text.
    pub(super) const fn is_inline(self) -> bool {
        match self {
            Self::Strong
            | Self::Emphasis
            | Self::Struck
            | Self::Code
            | Self::Link
            | Self::Image
            | Self::Inline
            | Self::Break
            | Self::Title
            | Self::Base
            | Self::Dropped => true,
            Self::Heading(_)
            | Self::Paragraph
            | Self::Block
            | Self::Section
            | Self::Rule
            | Self::Preformatted
            | Self::Quote
            | Self::List { .. }
            | Self::Item
            | Self::Table
            | Self::Row
            | Self::Cell
            | Self::Definition => false,
        }
    }
}

/// Whether an element has no content and no end.
pub(super) const fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"frame"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
    )
}
