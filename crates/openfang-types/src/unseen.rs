//! Characters that do something and are not seen, once for everybody: what a terminal obeys, and what has no shape.

/// Whether a terminal obeys a character instead of showing it: control characters, and those that turn the reading direction.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Whether a character has no shape. Emoji and some scripts need these; a name, a command line or a URL does not.
pub const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0080}'..='\u{e0fff}'
    )
}

/// Whether a character would not be seen, for one reason or the other.
pub fn is_unseen(c: char) -> bool {
    is_obeyed(c) || is_invisible(c)
}
