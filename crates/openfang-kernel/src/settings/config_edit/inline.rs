//! `mcp_servers = [{ ... }, { ... }]`: elements that come and go with their comma and their line.

use std::ops::Range;

/// The array, without its brackets.
pub(super) struct Array {
    pub(super) inner: Range<usize>,
    pub(super) elements: Vec<Element>,
}

/// An inline table and the comma after it.
pub(super) struct Element {
    pub(super) span: Range<usize>,
    pub(super) comma: Option<Range<usize>>,
}

impl Element {
    fn end(&self) -> usize {
        self.comma.as_ref().map_or(self.span.end, |comma| comma.end)
    }
}

impl Array {
    /// What to put where so that there is one element more, at the end.
    pub(super) fn with(&self, text: &str, newline: &str, element: &str) -> Vec<(Range<usize>, String)> {
        let at = |place: usize, piece: String| (place..place, piece);
        let Some(last) = self.elements.last() else { return vec![at(self.inner.start, element.to_owned())] };
        match (self.line_end(text, last.end()), &last.comma) {
            (Some(line_end), comma) => {
                let indent = indent_of(text, last.span.start).unwrap_or("  ");
                match comma {
                    Some(_) => vec![at(line_end, format!("{newline}{indent}{element},"))],
                    // A comment may stand behind the last element; the comma goes before it.
                    None => {
                        vec![at(last.span.end, ",".to_owned()), at(line_end, format!("{newline}{indent}{element}"))]
                    }
                }
            }
            (None, Some(comma)) => vec![at(comma.end, format!(" {element},"))],
            (None, None) => vec![at(last.span.end, format!(", {element}"))],
        }
    }

    /// What to cut so that an element is gone.
    pub(super) fn without(&self, text: &str, index: usize) -> Vec<Range<usize>> {
        let element = &self.elements[index];
        let before = index.checked_sub(1).map(|index| &self.elements[index]);
        let mut cuts = Vec::new();
        // The last element had no comma, so the one before must not keep its own.
        if element.comma.is_none()
            && let Some(comma) = before.and_then(|before| before.comma.clone())
        {
            cuts.push(comma);
        }
        let (start, end) = (element.span.start, element.end());
        let own_line = indent_of(text, start).map(|indent| start - indent.len());
        cuts.push(match (own_line, self.line_end(text, end)) {
            (Some(line), Some(line_end)) => {
                let after = line_end + if text[line_end..].starts_with("\r\n") { 2 } else { 1 };
                self.comment_above(text, line, before)..after
            }
            _ if before.is_none() && element.comma.is_some() => start..end + blanks(&text[end..]),
            _ => start - blanks_before(&text[..start])..end,
        });
        cuts
    }

    /// Where the line of this place ends, if nothing but a comment follows on it and the array goes on below.
    fn line_end(&self, text: &str, place: usize) -> Option<usize> {
        let rest = &text[place..self.inner.end];
        let line = &rest[..rest.find('\n')?];
        let line = line.strip_suffix('\r').unwrap_or(line);
        let follows = line.trim_start();
        (follows.is_empty() || follows.starts_with('#')).then_some(place + line.len())
    }

    /// Where the comment directly above a line of the array begins.
    fn comment_above(&self, text: &str, line: usize, before: Option<&Element>) -> usize {
        let floor = before.map_or(self.inner.start, Element::end);
        let mut start = line;
        while start > floor {
            let above = text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
            if above <= floor || !text[above..start].trim_start().starts_with('#') {
                break;
            }
            start = above;
        }
        start
    }
}

/// The blanks before this place, if nothing else stands before it on its line.
fn indent_of(text: &str, place: usize) -> Option<&str> {
    let line = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[line..place];
    indent.trim().is_empty().then_some(indent)
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

fn blanks_before(text: &str) -> usize {
    text.len() - text.trim_end_matches([' ', '\t']).len()
}
