//! The words of cards, as models and people are shown them: short, on one line, without characters that hide or rearrange
//! text, and quoted as the agent's own.

use openfang_a2a::client::PeerCard;
use openfang_runtime::external_tools::SkillTool;
use openfang_types::config::{ExternalAgent, ShownSkills};
use openfang_types::limits::{EXTERNAL_DESCRIPTION_CHARS, EXTERNAL_SKILL_CHARS, EXTERNAL_SKILLS};
use openfang_types::unseen::{is_obeyed, is_unseen};

/// The longest id, name or version that is shown.
pub(super) const ID_CHARS: usize = 80;

/// What models read about the tool of an agent. Skills that are tools of their own are not listed again.
pub(super) fn description(entry: &ExternalAgent, card: Option<&PeerCard>, tools: &[SkillTool]) -> String {
    let about = match (entry.description.as_str(), card) {
        ("", Some(card)) if !card.description.trim().is_empty() => {
            format!("The agent describes itself as: {:?}", one_line(&card.description, EXTERNAL_DESCRIPTION_CHARS))
        }
        ("", _) => format!("Sends a message to the agent {} and returns its answer.", entry.name),
        (written, _) => one_line(written, EXTERNAL_DESCRIPTION_CHARS),
    };
    let mut text = format!("[A2A:{}] {about}", entry.name);
    let skills = card.map(|card| card.skills.as_slice()).unwrap_or_default();
    let is_list = match entry.skills {
        ShownSkills::List => true,
        ShownSkills::Tools => tools.is_empty(),
        ShownSkills::Hide => false,
    };
    if is_list && !skills.is_empty() {
        let shown = skills.iter().take(EXTERNAL_SKILLS).map(|skill| {
            let (id, name) = (one_line(&skill.id, ID_CHARS), one_line(&skill.name, ID_CHARS));
            format!("{id} ({name}: {:?})", one_line(&skill.description, EXTERNAL_SKILL_CHARS))
        });
        text.push_str(" Its skills, in its own words: ");
        text.push_str(&shown.collect::<Vec<_>>().join("; "));
        text.push('.');
    }
    text
}

/// The text on one line, without what hides or rearranges it, cut to a length.
pub(super) fn one_line(text: &str, chars: usize) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !c.is_control() && !is_unseen(*c) && !is_obeyed(*c))
        .collect();
    let joined = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &joined[..end]),
        None => joined,
    }
}

/// A URL without what may be secret in it: a login and the query.
pub(super) fn shown_url(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let place = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = place.split_once('/').map_or((place, None), |(authority, path)| (authority, Some(path)));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let path = path.map(|path| format!("/{path}")).unwrap_or_default();
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
