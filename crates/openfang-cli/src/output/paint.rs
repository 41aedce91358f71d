//! Colors, chosen by meaning.

/// The meaning of a color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Waiting,
    Faint,
    Strong,
}

/// Colors a text. The text must not contain control characters.
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
