//! What a person should look at before trusting a skill. It is a hint: nothing is refused or allowed because of it.

use openfang_types::limits::{SKILL_FINDINGS_MAX, SKILL_SHOWN_BYTES};
use openfang_types::skills::SkillFinding;
use openfang_types::unseen::{is_invisible, is_obeyed};

use super::package::SkillFiles;

/// Texts in lower case, and what is said about a line with one of them.
const WORDS: [(&str, &str); 16] = [
    ("do not tell the user", "tells the agent to hide something from the user"),
    ("don't tell the user", "tells the agent to hide something from the user"),
    ("without telling the user", "tells the agent to hide something from the user"),
    ("ignore previous instructions", "tells the agent to ignore other instructions"),
    ("ignore all previous", "tells the agent to ignore other instructions"),
    (".ssh/", "names files with keys"),
    ("id_rsa", "names files with keys"),
    ("id_ed25519", "names files with keys"),
    (".aws/credentials", "names files with credentials"),
    (".netrc", "names files with credentials"),
    (".npmrc", "names files with credentials"),
    (".config/gcloud", "names files with credentials"),
    (".openfang/", "names files of OpenFang"),
    ("/etc/passwd", "names files of the system"),
    ("base64 -d", "decodes hidden text"),
    ("base64 --decode", "decodes hidden text"),
];
/// The shortest run of characters of base64 that is worth a look.
const BASE64_RUN: usize = 200;

/// Looks through the texts of a skill.
pub fn find(files: &SkillFiles) -> Vec<SkillFinding> {
    let mut found = Vec::new();
    for (path, bytes) in files.iter() {
        match std::str::from_utf8(bytes) {
            Ok(text) if bytes.len() <= SKILL_SHOWN_BYTES * 4 => look(path, text, &mut found),
            Ok(_) => note(&mut found, (path, 0), "is a long text that was not looked through"),
            Err(_) => note(&mut found, (path, 0), "is not text"),
        }
        if path.starts_with("scripts/") {
            note(&mut found, (path, 0), "is a script; skills cannot run scripts here");
        }
        if found.len() >= SKILL_FINDINGS_MAX {
            break;
        }
    }
    found.truncate(SKILL_FINDINGS_MAX);
    found
}

fn look(path: &str, text: &str, found: &mut Vec<SkillFinding>) {
    for (number, line) in (1..).zip(text.lines()) {
        if found.len() >= SKILL_FINDINGS_MAX {
            return;
        }
        let at = (path, number);
        if line.chars().any(|c| is_obeyed(c) && c != '\t') {
            note(found, at, "has control characters, or characters that turn the reading direction");
        }
        if line
            .chars()
            .any(|c| is_invisible(c) && !matches!(c, '\u{200d}' | '\u{fe0f}' | '\u{feff}'))
        {
            note(found, at, "has invisible characters");
        }
        let small = line.to_lowercase();
        for (word, what) in WORDS {
            if small.contains(word) {
                note(found, at, what);
            }
        }
        if (small.contains("curl ") || small.contains("wget ")) && pipes_into_shell(&small) {
            note(found, at, "runs what it downloads");
        }
        if longest_base64(line) >= BASE64_RUN {
            note(found, at, "has a long run of base64");
        }
    }
}

fn pipes_into_shell(line: &str) -> bool {
    let mut parts = line.split('|').skip(1);
    parts.any(|part| {
        let program = part.split_whitespace().find(|word| *word != "sudo").unwrap_or_default();
        ["sh", "bash", "zsh", "python", "python3", "node", "perl"].contains(&program)
    })
}

fn longest_base64(line: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in line.bytes() {
        run = if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=') { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn note(found: &mut Vec<SkillFinding>, (path, line): (&str, usize), what: &str) {
    let finding = SkillFinding { path: path.to_owned(), line, what: what.to_owned() };
    if !found.contains(&finding) {
        found.push(finding);
    }
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
