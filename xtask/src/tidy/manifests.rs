//! Versions stand in the workspace table and nowhere else: a member's dependency says `workspace = true`.
//! Reads the few shapes of TOML that a dependency can take; the root manifest is not a member and not read.

use super::Violation;

const RULE: &str = "versions";
const TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Where in a manifest a line stands.
enum Section {
    Elsewhere,
    /// `[dependencies]`: every key is a dependency.
    Dependencies,
    /// `[dependencies.name]`: the keys describe one dependency.
    Dependency {
        name: String,
        line: usize,
        inherits: bool,
    },
}

/// Holds a member's manifest against the rule.
pub(crate) fn versions(path: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut section = Section::Elsewhere;
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(header, _)| header) {
            violations.extend(left(path, &section));
            section = entered(header, index + 1);
            continue;
        }
        match &mut section {
            Section::Elsewhere => {}
            Section::Dependencies => violations.extend(own_version(path, index + 1, line)),
            Section::Dependency { inherits, .. } => *inherits |= squeezed(line).starts_with("workspace=true"),
        }
    }
    violations.extend(left(path, &section));
    violations
}

fn entered(header: &str, line: usize) -> Section {
    // `target.'cfg(unix)'.dependencies` ends like the plain table.
    let header = header.trim();
    if TABLES.iter().any(|table| header == *table || header.ends_with(&format!(".{table}"))) {
        return Section::Dependencies;
    }
    let one = TABLES.iter().find_map(|table| {
        let (before, name) = header.rsplit_once('.')?;
        (before == *table || before.ends_with(&format!(".{table}"))).then_some(name)
    });
    match one {
        Some(name) => Section::Dependency { name: name.to_owned(), line, inherits: false },
        None => Section::Elsewhere,
    }
}

fn left(path: &str, section: &Section) -> Option<Violation> {
    match section {
        Section::Dependency { name, line, inherits: false } => Some(violation(path, *line, name)),
        Section::Dependency { .. } | Section::Dependencies | Section::Elsewhere => None,
    }
}

/// A line below `[dependencies]`. The rest of an array that spans lines has no key and is passed over.
fn own_version(path: &str, number: usize, line: &str) -> Option<Violation> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), squeezed(value));
    let name = key.split('.').next().unwrap_or(key);
    let inherits = match key.split_once('.') {
        Some((_, "workspace")) => value.starts_with("true"),
        // `name.features = [...]` goes with a `name.workspace = true` beside it.
        Some((_, property)) => !matches!(property, "version" | "path" | "git"),
        None => value.starts_with('{') && value.contains("workspace=true"),
    };
    (!inherits).then(|| violation(path, number, name))
}

fn violation(path: &str, line: usize, name: &str) -> Violation {
    Violation::new(
        path,
        line,
        RULE,
        format!("{name} has a version of its own: put it into the workspace table and inherit it"),
    )
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
