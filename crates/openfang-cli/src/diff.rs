//! A unified diff of two texts, by lines.

/// Lines around a change that are shown.
const CONTEXT: usize = 3;
/// Texts whose changed middle parts have more lines than this are compared as one block.
const COMPARED_LINES: usize = 2_000;

/// A line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffLine<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
    /// Unchanged lines that are left out.
    Gap,
}

/// The changed lines and a few around them, without headers. Empty if the texts are equal.
pub(crate) fn diff<'a>(before: &'a str, after: &'a str) -> Vec<DiffLine<'a>> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let shared = |(a, b): &(&&str, &&str)| a == b;
    let start = before.iter().zip(&after).take_while(shared).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(shared).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let mut lines: Vec<DiffLine<'a>> = before[..start].iter().map(|line| DiffLine::Same(line)).collect();
    lines.extend(middle(old, new));
    lines.extend(before[before.len() - end..].iter().map(|line| DiffLine::Same(line)));
    shortened(&lines)
}

/// Compares by the longest common subsequence, or as one block where that would take too long.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<DiffLine<'a>> {
    if old.len().max(new.len()) > COMPARED_LINES {
        let removed = old.iter().map(|line| DiffLine::Removed(line));
        return removed.chain(new.iter().map(|line| DiffLine::Added(line))).collect();
    }
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            longest[a * width + b] = if old[a] == new[b] {
                longest[(a + 1) * width + b + 1] + 1
            } else {
                longest[(a + 1) * width + b].max(longest[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut lines = Vec::new();
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            lines.push(DiffLine::Same(old[a]));
            (a, b) = (a + 1, b + 1);
        } else if b == new.len() || (a < old.len() && longest[(a + 1) * width + b] >= longest[a * width + b + 1]) {
            lines.push(DiffLine::Removed(old[a]));
            a += 1;
        } else {
            lines.push(DiffLine::Added(new[b]));
            b += 1;
        }
    }
    lines
}

/// Leaves out what is far from every change.
fn shortened<'a>(lines: &[DiffLine<'a>]) -> Vec<DiffLine<'a>> {
    let is_same = |line: &DiffLine<'_>| matches!(line, DiffLine::Same(_));
    let changes: Vec<usize> = (0..lines.len()).filter(|&index| !is_same(&lines[index])).collect();
    let mut kept: Vec<DiffLine<'a>> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let place = changes.partition_point(|&change| change < index);
        let near = |change: Option<&usize>| change.is_some_and(|&change| change.abs_diff(index) <= CONTEXT);
        if near(changes.get(place)) || near(place.checked_sub(1).and_then(|place| changes.get(place))) {
            kept.push(*line);
        } else if !changes.is_empty() && kept.last() != Some(&DiffLine::Gap) {
            kept.push(DiffLine::Gap);
        }
    }
    kept
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
