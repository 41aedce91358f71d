//! The rooms of the kernel: which may name which, that none shows its fields, and that none holds the kernel. `ROOMS` is the
//! plan's only copy in code. What is in no room (boot, the handle, errors) may name every room; tests are free.

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

/// The types that stand for a room, and those that hold what several rooms use: what is in them is reached by their methods.
const HOLDERS: &[(&str, &str)] = &[
    ("settings/live.rs", "LiveSettings"),
    ("settings/snapshot.rs", "Settings"),
    ("access.rs", "Access"),
    ("access.rs", "Credentials"),
    ("tasks.rs", "Tasks"),
    ("peers/upstreams.rs", "Upstreams"),
    ("peers/external.rs", "ExternalPeers"),
    ("peers/external_control.rs", "ExternalControl"),
    ("doors.rs", "Doors"),
    ("kernel.rs", "Kernel"),
    ("execute_tool.rs", "DirectCalls"),
    ("change.rs", "ChangeRecorder"),
    ("integrity.rs", "Integrity"),
    ("drain.rs", "Life"),
];

/// The handle, whose methods are beside it. Only the doors, which are made on demand, may name it.
const HANDLE: (&str, &str) = ("Kernel", "kernel");

/// What is state and no value: a field of such a type is seen by its own room only.
const STATE: &[&str] = &[
    "Mutex<",
    "RwLock<",
    "OnceLock<",
    "Atomic",
    "watch::",
    "broadcast::",
    "mpsc::",
    "Semaphore",
    "TaskTracker",
    "Store>",
];

/// What a room is made with is handed over whole, and nobody sees it afterwards.
const MADE_WITH: &str = "Parts";

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

/// No state is visible beyond its room, whatever holds it.
pub(crate) fn state(path: &str, lines: &[Line]) -> Vec<Violation> {
    if !path.starts_with(KERNEL) || is_test(path) {
        return Vec::new();
    }
    let mut violations = Vec::new();
    let mut holder = None;
    for (index, line) in lines.iter().enumerate() {
        let code = line.code.trim();
        if let Some(name) = struct_name(code) {
            holder = Some(name);
        }
        let Some(name) = holder.filter(|name| !name.ends_with(MADE_WITH)) else { continue };
        let is_seen = ["pub ", "pub(crate) "].iter().any(|visible| code.starts_with(visible));
        let is_field = is_seen && struct_name(code).is_none() && code.contains(": ") && !code.contains("fn ");
        if is_field && STATE.iter().any(|state| code.contains(state)) {
            let reason = format!("state of {name} is visible to other rooms: give it a method");
            violations.push(Violation::new(path, index + 1, RULE, reason));
        }
        if line.code == "}" {
            holder = None;
        }
    }
    violations
}

/// The kernel's methods are beside the kernel, and rooms do not hold it: what they need is given to them.
pub(crate) fn handle(path: &str, lines: &[Line]) -> Vec<Violation> {
    let Some(inside) = path.strip_prefix(KERNEL).filter(|_| !is_test(path)) else { return Vec::new() };
    if inside.starts_with("kernel/") || inside == "kernel.rs" {
        return Vec::new();
    }
    let (name, module) = HANDLE;
    let methods = format!("impl {name} {{");
    let mut violations = Vec::new();
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| line.code.trim() == methods) {
        let reason = format!("methods of {name} are in kernel/: give these to the room's own type");
        violations.push(Violation::new(path, index + 1, RULE, reason));
    }
    let Some(room) = room_of(path).filter(|room| room.name != "doors") else { return violations };
    for (line, word) in named_from_root(lines, &[name, module]) {
        let reason = format!("{} may not name {word}: a room is given what it needs", room.name);
        violations.push(Violation::new(path, line, RULE, reason));
    }
    violations
}

fn struct_name(code: &str) -> Option<&str> {
    let (before, name) = code.split_once("struct ")?;
    let is_item = before.is_empty() || before.starts_with("pub");
    is_item.then(|| name.split(|char| !is_word(char)).next().unwrap_or_default())
}

/// The rooms that paths from the root of the crate lead into, with their lines.
fn named_rooms(lines: &[Line]) -> Vec<(usize, &'static str)> {
    let rooms: Vec<&'static str> = ROOMS.iter().map(|room| room.name).collect();
    named_from_root(lines, &rooms)
}

/// Which of these words paths from the root of the crate begin with, and their lines.
fn named_from_root(lines: &[Line], words: &[&'static str]) -> Vec<(usize, &'static str)> {
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
                    found.extend(first_word(rest, words).map(|word| (index + 1, word)));
                }
                continue;
            }
            if depth == 1 && is_start && is_word(char) {
                found.extend(first_word(rest, words).map(|word| (index + 1, word)));
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

/// Which of these words a path begins with.
fn first_word(text: &str, words: &[&'static str]) -> Option<&'static str> {
    let word = text.split(|char| !is_word(char)).next()?;
    words.iter().copied().find(|name| *name == word)
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
