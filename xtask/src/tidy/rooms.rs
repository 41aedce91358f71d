//! The rooms of the kernel: which may name which, and that none shows its fields. `ROOMS` is the plan's only copy in code.
//! What is in no room (boot, the handle, errors) may name every room; tests are free.

use super::Violation;
use super::files::is_test;
use super::source::{Line, is_word};

const RULE: &str = "rooms";

/// The sources of the kernel.
const KERNEL: &str = "crates/openfang-kernel/src/";

/// A room, and the rooms that it may name.
struct Room {
    name: &'static str,
    may_name: &'static [&'static str],
}

const ROOMS: &[Room] = &[
    Room { name: "settings", may_name: &[] },
    Room { name: "access", may_name: &["settings"] },
    Room { name: "tasks", may_name: &["settings", "access"] },
    Room { name: "peers", may_name: &["settings", "access"] },
    Room { name: "doors", may_name: &["settings", "access", "tasks", "peers"] },
];

/// The types that stand for a room, and the one that holds them all: what is in them is reached by their methods.
const HOLDERS: &[(&str, &str)] = &[
    ("settings/live.rs", "LiveSettings"),
    ("settings/snapshot.rs", "Settings"),
    ("access.rs", "Access"),
    ("access.rs", "Credentials"),
    ("tasks.rs", "Tasks"),
    ("peers/upstreams.rs", "Upstreams"),
    ("doors.rs", "Doors"),
    ("drain.rs", "Life"),
];

/// Holds the plan against a source of the kernel: a path into another room.
pub(crate) fn named(path: &str, lines: &[Line]) -> Vec<Violation> {
    let Some(room) = room_of(path).filter(|_| !is_test(path)) else { return Vec::new() };
    let mut violations = Vec::new();
    for (line, other) in named_rooms(lines) {
        if other != room.name && !room.may_name.contains(&other) {
            let reason = format!("{} may not name {other}: {}", room.name, permitted(room));
            violations.push(Violation::new(path, line, RULE, reason));
        }
    }
    violations
}

/// A holder has no field that others see, and is where the plan says.
pub(crate) fn fields(path: &str, lines: &[Line]) -> Vec<Violation> {
    let Some(inside) = path.strip_prefix(KERNEL) else { return Vec::new() };
    let mut violations = Vec::new();
    for (_, holder) in HOLDERS.iter().filter(|(file, _)| *file == inside) {
        let opening = format!("struct {holder} {{");
        let Some(begin) = lines.iter().position(|line| line.code.ends_with(&opening)) else {
            violations.push(Violation::new(path, 1, RULE, format!("{holder} is not here any more: change the plan")));
            continue;
        };
        let body = lines.iter().enumerate().skip(begin + 1).take_while(|(_, line)| line.code != "}");
        for (index, _) in body.filter(|(_, line)| line.code.trim_start().starts_with("pub")) {
            let reason = format!("a field of {holder} is visible to other rooms: give it a method");
            violations.push(Violation::new(path, index + 1, RULE, reason));
        }
    }
    violations
}

/// The rooms that paths from the root of the crate lead into, with their lines.
fn named_rooms(lines: &[Line]) -> Vec<(usize, &'static str)> {
    const ROOT: &str = "crate::";
    let mut found = Vec::new();
    // Inside `crate::{`: how deep; names at the first level are modules of the root.
    let mut depth = 0_usize;
    for (index, line) in lines.iter().enumerate() {
        let mut rest = line.code.as_str();
        let mut is_start = depth == 1;
        while let Some(char) = rest.chars().next() {
            if depth == 0 {
                let Some(at) = rest.find(ROOT) else { break };
                let is_path = !rest[..at].chars().next_back().is_some_and(|before| is_word(before) || before == '$');
                rest = &rest[at + ROOT.len()..];
                if is_path && let Some(inside) = rest.strip_prefix('{') {
                    (depth, is_start, rest) = (1, true, inside);
                } else if is_path {
                    found.extend(first_word(rest).map(|room| (index + 1, room)));
                }
                continue;
            }
            if depth == 1 && is_start && is_word(char) {
                found.extend(first_word(rest).map(|room| (index + 1, room)));
                is_start = false;
            }
            match char {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => is_start = true,
                _ => {}
            }
            rest = &rest[char.len_utf8()..];
        }
    }
    found
}

/// The room that a path begins with.
fn first_word(text: &str) -> Option<&'static str> {
    let word = text.split(|char| !is_word(char)).next()?;
    ROOMS.iter().map(|room| room.name).find(|name| *name == word)
}

fn room_of(path: &str) -> Option<&'static Room> {
    let inside = path.strip_prefix(KERNEL)?;
    let name = inside.split('/').next()?.trim_end_matches(".rs");
    ROOMS.iter().find(|room| room.name == name)
}

fn permitted(room: &Room) -> String {
    if room.may_name.is_empty() {
        "it names no other room".to_owned()
    } else {
        format!("only {}", room.may_name.join(", "))
    }
}

#[cfg(test)]
#[path = "rooms_tests.rs"]
mod tests;
