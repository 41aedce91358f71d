//! URI templates (RFC 6570), as far as it takes to say whether a URI can come from one.

/// A template that is taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UriTemplate {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// One or more characters of one segment: `{name}`, `{.name}`.
    Segment,
    /// One or more characters: `{+name}`, `{/name*}`.
    Rest,
    /// Any characters or none: `{?name}`, `{&name}`, `{#name}`.
    Anything,
}

impl UriTemplate {
    /// The template in a text; none where the text is no template, or where its first segment is a variable: that
    /// would claim the URIs of everybody.
    pub(super) fn of(text: &str) -> Option<Self> {
        let scheme = text.split('{').next()?.split(':').next()?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        if !is_scheme || text.as_bytes().get(scheme.len()) != Some(&b':') {
            return None;
        }
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((literal, after)) = rest.split_once('{') {
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            let (expression, after) = after.split_once('}')?;
            let operator = expression.chars().next()?;
            match operator {
                '+' => parts.push(Part::Rest),
                '/' => parts.extend([Part::Literal("/".to_owned()), Part::Rest]),
                '.' => parts.extend([Part::Literal(".".to_owned()), Part::Segment]),
                '#' | '?' | '&' | ';' => parts.push(Part::Anything),
                _ => parts.push(Part::Segment),
            }
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Some(Self { parts })
    }

    /// Whether a URI can come from the template. The time it takes grows with the length of the URI and no faster.
    pub(super) fn matches(&self, uri: &str) -> bool {
        let bytes = uri.as_bytes();
        // The places in the URI that the parts so far can end at.
        let mut ends = vec![false; bytes.len() + 1];
        ends[0] = true;
        for part in &self.parts {
            ends = match part {
                Part::Literal(text) => after_literal(&ends, bytes, text.as_bytes()),
                Part::Segment => after_run(&ends, bytes, |byte| byte != b'/', false),
                Part::Rest => after_run(&ends, bytes, |_| true, false),
                Part::Anything => after_run(&ends, bytes, |_| true, true),
            };
        }
        ends.last().copied().unwrap_or(false)
    }
}

fn after_literal(ends: &[bool], uri: &[u8], text: &[u8]) -> Vec<bool> {
    let mut after = vec![false; ends.len()];
    for (place, _) in ends.iter().enumerate().filter(|(_, is_end)| **is_end) {
        if uri.get(place..).is_some_and(|rest| rest.starts_with(text)) {
            after[place + text.len()] = true;
        }
    }
    after
}

/// Where a run of such characters can end: one or more of them, or none too.
fn after_run(ends: &[bool], uri: &[u8], is_part: impl Fn(u8) -> bool, or_none: bool) -> Vec<bool> {
    let mut after = if or_none { ends.to_vec() } else { vec![false; ends.len()] };
    let mut is_running = false;
    for (place, byte) in uri.iter().enumerate() {
        is_running = (is_running || ends[place]) && is_part(*byte);
        after[place + 1] |= is_running;
    }
    after
}

/// The beginnings of URIs that are ours alone.
const OURS: [&str; 2] = ["openfang:", "skill://openfang"];

/// Whether a URI, or what a template begins with, is ours: no server may claim it.
pub(crate) fn is_ours(uri: &str) -> bool {
    let begins = |ours: &&str| uri.get(..ours.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(ours));
    let Some(ours) = OURS.iter().find(|ours| begins(ours)) else { return false };
    // Another authority may begin with the same letters.
    ours.ends_with(':') || uri[ours.len()..].chars().next().is_none_or(|c| matches!(c, '/' | '?' | '#' | '{'))
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
