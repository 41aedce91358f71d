//! Nothing in the project may point into somebody's machine: absolute paths below a home or a work directory, and
//! the addresses of the registry that a lock file of npm was made with.

use super::Violation;
use super::source::is_word;

const RULE: &str = "paths";

/// Put together here, so that this file does not break its own rule.
const ROOTS: &[&str] = &[concat!("/", "root/"), concat!("/", "work/")];
const HOME: &str = concat!("/", "home/");
const NPM_LOCK: &str = "package-lock.json";
const NPM_ADDRESS: &str = "\"resolved\":";

/// Holds any text file against the rule.
pub(crate) fn check(path: &str, text: &str) -> Vec<Violation> {
    let is_npm_lock = path.rsplit('/').next() == Some(NPM_LOCK);
    let mut violations = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(found) = machine_path(line) {
            violations.push(Violation::new(path, index + 1, RULE, format!("`{found}` is a path of one machine")));
        }
        if is_npm_lock && line.trim_start().starts_with(NPM_ADDRESS) {
            violations.push(Violation::new(
                path,
                index + 1,
                RULE,
                "the address of a registry: set omit-lockfile-registry-resolved",
            ));
        }
    }
    violations
}

fn machine_path(line: &str) -> Option<String> {
    let root = ROOTS
        .iter()
        .find(|root| line.match_indices(**root).any(|(start, _)| is_absolute(line, start)));
    if let Some(root) = root {
        return Some((*root).to_owned());
    }
    line.match_indices(HOME).find_map(|(start, _)| {
        let rest = &line[start + HOME.len()..];
        let user = &rest[..rest.find(|char: char| !is_word(char) && char != '-')?];
        let is_home = is_absolute(line, start) && !user.is_empty() && rest[user.len()..].starts_with('/');
        is_home.then(|| format!("{HOME}{user}/"))
    })
}

/// Not the middle of a longer path: `../../x`, `~/x`, `${DIR}/x`, `host.example/x`.
fn is_absolute(line: &str, start: usize) -> bool {
    let before = line[..start].chars().next_back();
    !before.is_some_and(|char| is_word(char) || "./~}>*-%)".contains(char)) || line[..start].ends_with("file://")
}

#[cfg(test)]
#[path = "machine_paths_tests.rs"]
mod tests;
