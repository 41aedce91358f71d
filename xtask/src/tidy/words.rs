//! Rules about words: doc comments that only repeat a name, type names that say nothing, and metaphors of the code in what
//! users read.

use super::Violation;
use super::source::{LITERAL_END, Line, words};

const RULE: &str = "words";

/// A doc comment with no more words than this repeats the name of its item.
const TOO_SHORT: usize = 3;

/// Type names that say how a value came about, and not what it is.
const PARTICIPLES: &[&str] = &[
    "Asked", "Begun", "Given", "Held", "Kept", "Known", "Made", "Members", "Named", "Place", "Said", "Shown", "Spoken",
    "Standing", "Taken", "Told", "Wanted",
];

/// Metaphors of the code, and paraphrases of a word of the trade.
const NOT_FOR_USERS: &[&str] = &["house", "houses", "door", "doors", "gate", "seed", "seeds"];
const PARAPHRASES: &[&str] =
    &["let go", "lets go", "look after", "worth nothing any more", "was told", "is open on it"];

/// No doc comment of three words or fewer.
pub(crate) fn short_docs(path: &str, lines: &[Line]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut block: Option<(usize, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let doc = line.comment.strip_prefix("///").filter(|_| line.code.trim().is_empty());
        match (doc, block) {
            (Some(text), Some((first, count))) => block = Some((first, count + text.split_whitespace().count())),
            (Some(text), None) => block = Some((index + 1, text.split_whitespace().count())),
            (None, Some((first, count))) => {
                if count <= TOO_SHORT {
                    let reason = "a doc comment of three words or fewer: say more, or delete it";
                    violations.push(Violation::new(path, first, RULE, reason));
                }
                block = None;
            }
            (None, None) => {}
        }
    }
    violations
}

/// A type is a noun of the domain.
pub(crate) fn type_names(path: &str, lines: &[Line]) -> Vec<Violation> {
    let declared = lines.iter().enumerate().filter_map(|(index, line)| {
        let mut code = words(&line.code);
        code.find(|word| matches!(*word, "struct" | "enum" | "trait" | "type"))?;
        let name = code.next().filter(|name| PARTICIPLES.contains(name))?;
        Some((index + 1, name))
    });
    let reason = |name| format!("the type name `{name}` does not say what it is: use a noun of the domain");
    declared.map(|(line, name)| Violation::new(path, line, RULE, reason(name))).collect()
}

/// What a program of ours prints or answers is in its string literals; what `--help` prints is in the doc comments of
/// the command line's arguments.
pub(crate) fn messages(path: &str, lines: &[Line]) -> Vec<Violation> {
    let is_help = path.starts_with("crates/openfang-cli/src/args");
    let read = lines.iter().enumerate().flat_map(|(index, line)| {
        let help = line.comment.strip_prefix("///").filter(|_| is_help);
        // A literal of one word is a name or a key, not prose.
        let prose = line.text.split(LITERAL_END).filter(|text| text.split_whitespace().count() > 1);
        prose.chain(help).map(move |text| (index + 1, text))
    });
    read.filter_map(|(line, text)| prose_violation(path, line, text)).collect()
}

/// Every page that users read, without its examples.
pub(crate) fn pages(path: &str, text: &str) -> Vec<Violation> {
    if path != "README.md" && path != "config.example.toml" && !path.starts_with("docs/") {
        return Vec::new();
    }
    let mut is_example = false;
    let prose = text.lines().enumerate().filter(|(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_example ^= is_fence;
        !is_example && !is_fence
    });
    prose.filter_map(|(index, line)| prose_violation(path, index + 1, line)).collect()
}

fn prose_violation(path: &str, line: usize, text: &str) -> Option<Violation> {
    let lower = without_names(text).to_lowercase();
    let word = words(&lower).find(|word| NOT_FOR_USERS.contains(word));
    let found = word.or_else(|| PARAPHRASES.iter().copied().find(|phrase| lower.contains(phrase)))?;
    Some(Violation::new(path, line, RULE, format!("`{found}` in what users read: use the word of the trade")))
}

/// A text without what is quoted as code, and without the placeholders of a format: both are names, not prose.
fn without_names(text: &str) -> String {
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let outside = prose.split('{').map(|piece| piece.rsplit('}').next().unwrap_or_default());
    outside.collect::<Vec<_>>().join(" ")
}

/// Whether the rules for product code hold for a file: tests may say what they like.
pub(crate) fn is_product(path: &str) -> bool {
    path.starts_with("crates/") && !path.contains("_tests") && !path.starts_with("crates/openfang-testkit/")
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
