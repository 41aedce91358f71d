//! A skill as text: what a person looks at before trusting it.

use std::path::Path;

use openfang_types::skills::{SkillChange, SkillChangeKind, SkillDetails, SkillState};

use crate::diff::diff;
use crate::error::CliError;
use crate::output::one_line;
use crate::session::Session;

/// Prints everything about a skill. Whatever it says is escaped.
pub(super) fn print(session: &Session, skill: &SkillDetails) -> Result<(), CliError> {
    let output = &session.output;
    if output.is_json() {
        return output.document(skill);
    }
    let view = &skill.skill;
    output.text(&format!("{}: {}", view.name, one_line(&view.description)))?;
    output.text(&format!("state:        {}{}", view.state.as_str(), if view.active { ", in use" } else { "" }))?;
    output.text(&format!("source:       {}", one_line(&view.source)))?;
    output.text(&format!("digest:       {}", view.digest))?;
    let facts = [
        ("version:      ", &skill.version),
        ("license:      ", &skill.license),
        ("compatibility:", &skill.compatibility),
    ];
    for (key, value) in facts {
        if let Some(value) = value {
            output.text(&format!("{key} {}", one_line(value)))?;
        }
    }
    if !skill.allowed_tools.is_empty() {
        output.text(&format!("expects tools: {}", one_line(&skill.allowed_tools.join(" "))))?;
    }
    output.text("files:")?;
    for file in &skill.files {
        output.text(&format!("  {:>9}  {}", file.size, one_line(&file.path)))?;
    }
    for warning in &skill.warnings {
        output.note(&one_line(warning));
    }
    for finding in &skill.findings {
        let place = if finding.line == 0 { String::new() } else { format!(":{}", finding.line) };
        output.note(&format!("look at {}{place}: {}", one_line(&finding.path), finding.what));
    }
    if view.state == SkillState::Changed {
        output.text("\nchanged since it was trusted:")?;
        return skill.changes.iter().try_for_each(|change| print_change(session, change));
    }
    output.text("\ninstructions:")?;
    output.text(&skill.instructions)
}

fn print_change(session: &Session, change: &SkillChange) -> Result<(), CliError> {
    let output = &session.output;
    let kind = match change.kind {
        SkillChangeKind::Added => "added",
        SkillChangeKind::Changed => "changed",
        SkillChangeKind::Removed => "removed",
    };
    output.text(&format!("\n{kind}: {}", one_line(&change.path)))?;
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    if before.is_none() && after.is_none() {
        output.note("it is not text, or too long to be shown");
        return Ok(());
    }
    output.diff(Path::new(&change.path), &diff(before.unwrap_or_default(), after.unwrap_or_default()))
}
