//! Text as Markdown that means just this text.

use openfang_types::unseen::{is_invisible, is_obeyed};

/// Where in a line the next character is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LinePosition {
    #[default]
    LineStart,
    /// After digits with which the line starts.
    AfterDigits,
    InLine,
}

/// Writes a word. Characters that nobody would see are left out.
pub(super) fn escape(out: &mut String, word: &str, place: &mut LinePosition, in_cell: bool) {
    let mut before = out.chars().next_back();
    let mut rest = word.chars().filter(|c| is_shown(*c)).peekable();
    while let Some(c) = rest.next() {
        let is_marked = match (c, *place) {
            ('\\' | '`' | '*' | '[' | ']' | '<', _) => true,
            ('_', _) => {
                let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                !(in_word(before) && in_word(rest.peek().copied()))
            }
            ('|', _) => in_cell,
            ('#' | '>' | '-' | '+' | '=' | '~', LinePosition::LineStart) | ('.' | ')', LinePosition::AfterDigits) => {
                true
            }
            _ => false,
        };
        if is_marked {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
        *place = match place {
            LinePosition::LineStart | LinePosition::AfterDigits if c.is_ascii_digit() => LinePosition::AfterDigits,
            LinePosition::LineStart | LinePosition::AfterDigits | LinePosition::InLine => LinePosition::InLine,
        };
    }
}

/// Joiners and variation selectors shape emoji and some scripts.
const fn is_shaping(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

pub(super) fn is_shown(c: char) -> bool {
    is_shaping(c) || !(is_obeyed(c) || is_invisible(c))
}
