//! Colour: a few meanings, not a palette.

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing in particular.
    Plain,
    /// Done.
    Good,
    /// Went wrong.
    Bad,
    /// Waits for somebody.
    Waiting,
    /// Stands back.
    Faint,
    /// A heading.
    Strong,
}

/// Paints a text that holds no control characters of its own.
pub(super) fn paint(text: &str, tone: Tone, colour: bool) -> String {
    let code = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Good => "32",
        Tone::Bad => "31",
        Tone::Waiting => "33",
        Tone::Faint => "2",
        Tone::Strong => "1",
    };
    if colour && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}
