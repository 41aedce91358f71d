//! The HTML page of DuckDuckGo: links of the class `result__a` with texts of the class `result__snippet`. A page that asks
//! for proof of being human is recognized, and the provider is left alone for a while.

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use openfang_types::config::SearchProvider;
use openfang_types::limits::{SEARCH_HITS_READ, SEARCH_PAUSE};
use url::Url;

use super::{NoAnswer, SearchHit};

/// The answer to a program that asked too often.
pub(super) fn refused() -> NoAnswer {
    NoAnswer {
        why: "it takes this server for a robot; it is left alone for ten minutes".to_owned(),
        pause: Some(SEARCH_PAUSE),
    }
}

/// Reads a page of results.
pub(super) fn read(html: &str) -> Result<Vec<SearchHit>, NoAnswer> {
    if html.contains("anomaly.js") || html.contains("anomaly-modal") {
        return Err(refused());
    }
    let mut reader = Reader::default();
    let mut emitter = CallbackEmitter::new(&mut reader);
    emitter.naively_switch_states(true);
    let (None | Some(Ok(Enough))) = Tokenizer::new_with_emitter(html, emitter).next();
    if reader.hits.is_empty() && !html.contains("no-results") {
        return Err(NoAnswer::new("its page has changed, and no results were found in it"));
    }
    Ok(reader.hits)
}

struct Enough;

/// What the text that comes next belongs to.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Nothing,
    Title,
    Snippet,
}

#[derive(Default)]
struct Reader {
    hits: Vec<SearchHit>,
    name: Vec<u8>,
    class: String,
    href: String,
    attribute: Vec<u8>,
    part: Part,
}

impl Reader {
    fn started(&mut self) {
        let has = |class: &str| self.class.split_whitespace().any(|word| word == class);
        if self.name == b"a" && has("result__a") {
            let (title, snippet) = (String::new(), String::new());
            let source = SearchProvider::DuckDuckGo.as_str();
            self.hits.push(SearchHit { title, url: target(&self.href), snippet, date: None, source });
            self.part = Part::Title;
        } else if has("result__snippet") {
            self.part = Part::Snippet;
        }
    }
}

/// Results lead through a page of the provider, with the address as a parameter.
fn target(href: &str) -> String {
    let base = Url::parse("https://duckduckgo.com/").ok();
    let Some(url) = base.and_then(|base| base.join(href).ok()) else { return String::new() };
    let behind = url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, target)| target.into_owned());
    behind.unwrap_or_else(|| url.to_string())
}

impl Callback<Enough, ()> for &mut Reader {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Enough> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.name = name.to_vec();
                self.class.clear();
                self.href.clear();
            }
            CallbackEvent::AttributeName { name } => self.attribute = name.to_vec(),
            CallbackEvent::AttributeValue { value } => match self.attribute.as_slice() {
                b"class" => self.class.push_str(&String::from_utf8_lossy(value)),
                b"href" => self.href.push_str(&String::from_utf8_lossy(value)),
                _ => {}
            },
            CallbackEvent::CloseStartTag { .. } => self.started(),
            CallbackEvent::EndTag { name: b"a" | b"div" | b"h2" } => self.part = Part::Nothing,
            CallbackEvent::String { value } => {
                let text = String::from_utf8_lossy(value);
                match (self.part, self.hits.last_mut()) {
                    (Part::Title, Some(hit)) => hit.title.push_str(&text),
                    (Part::Snippet, Some(hit)) => hit.snippet.push_str(&text),
                    (Part::Nothing | Part::Title | Part::Snippet, _) => {}
                }
            }
            CallbackEvent::EndTag { .. }
            | CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
        (self.hits.len() > SEARCH_HITS_READ).then_some(Enough)
    }
}
