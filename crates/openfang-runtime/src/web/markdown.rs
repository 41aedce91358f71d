//! HTML to Markdown in one pass and without recursion: a tokenizer's events go straight into a flat [`Writer`].
//!
//! Whatever the page says, the work is linear in its size, nesting is remembered up to a limit, and the text that comes out has a
//! limit too. Scripts, styles, frames, comments and elements that a reader would not see are left out. Links and pictures
//! keep their targets if these are http or https. Text is escaped, so that a page cannot forge Markdown.

use std::borrow::Cow;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use openfang_types::limits::{WEB_LINK_MAX_BYTES, WEB_LINKS, WEB_TITLE_CHARS};
use openfang_types::unseen::is_obeyed;
use url::Url;

use attributes::Attributes;
use hidden::HiddenPart;
use tags::Tag;
use writer::{Mark, Writer};

mod attributes;
mod hidden;
mod tags;
mod writer;

/// A page as Markdown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The title; none if the page has none.
    pub(crate) title: Option<String>,
    pub(crate) markdown: String,
    /// Whether the page makes more text than is kept.
    pub(crate) is_cut: bool,
}

/// Converts a page that was found at `base`.
pub(crate) fn convert(html: &str, base: &Url) -> Page {
    let mut reader = Reader::new(base);
    let mut emitter = CallbackEmitter::new(&mut reader);
    emitter.naively_switch_states(true);
    let (None | Some(Ok(Full))) = Tokenizer::new_with_emitter(html, emitter).next();
    reader.into_page()
}

/// The event after which nothing more is read.
struct Full;

/// Follows the events of the tokenizer.
struct Reader {
    base: Url,
    /// Links that may still be written.
    links_left: usize,
    writer: Writer,
    title: Title,
    name: Vec<u8>,
    attributes: Attributes,
    hidden: Option<HiddenPart>,
}

/// The title, before, while and after it is read.
enum Title {
    Missing,
    Reading(String),
    Read(String),
}

impl Reader {
    fn new(base: &Url) -> Self {
        Self {
            base: base.clone(),
            links_left: WEB_LINKS,
            writer: Writer::default(),
            title: Title::Missing,
            name: Vec::new(),
            attributes: Attributes::default(),
            hidden: None,
        }
    }

    fn into_page(self) -> Page {
        let title = match self.title {
            Title::Missing => None,
            Title::Reading(raw) | Title::Read(raw) => Some(one_line(&raw)).filter(|title| !title.is_empty()),
        };
        let is_cut = self.writer.is_full();
        Page { title, markdown: self.writer.finish(), is_cut }
    }

    fn start(&mut self) {
        let name = std::mem::take(&mut self.name);
        let tag = Tag::of(&name);
        if let Some(hidden) = &mut self.hidden {
            if !hidden.is_ended_by_start(&name, tag) {
                self.name = name;
                return;
            }
            self.hidden = None;
        }
        if tag == Tag::Dropped || self.attributes.hide() {
            if !tags::is_void(&name) {
                self.hidden = Some(HiddenPart::begin(&name));
            }
        } else {
            self.write_start(tag);
        }
        self.name = name;
    }

    fn write_start(&mut self, tag: Tag) {
        match tag {
            Tag::Title => {
                if matches!(self.title, Title::Missing) {
                    self.title = Title::Reading(String::new());
                } else {
                    self.hidden = Some(HiddenPart::begin(b"title"));
                }
            }
            Tag::Base => {
                if let Some(base) = self.attributes.href().and_then(|href| resolved(&self.base, href)) {
                    self.base = base;
                }
            }
            Tag::Link => {
                let href = self.attributes.href();
                let target = href.and_then(|href| linked(&self.base, href, &mut self.links_left));
                self.writer.begin_link(target);
            }
            Tag::Image => {
                if let (Some(alt), false) = (self.attributes.alt(), self.attributes.is_pixel()) {
                    let source = self.attributes.src();
                    match source.and_then(|source| linked(&self.base, source, &mut self.links_left)) {
                        Some(target) => self.writer.image(&one_line(alt), &target),
                        None => self.writer.text(&one_line(alt)),
                    }
                }
            }
            Tag::List { ordered } => self.writer.begin_list(ordered.then(|| self.attributes.first_number())),
            Tag::Heading(level) => self.writer.begin_heading(level),
            Tag::Break => self.writer.line(),
            Tag::Rule => self.writer.rule(),
            Tag::Paragraph | Tag::Section => self.writer.paragraph(),
            Tag::Block => self.writer.block(),
            Tag::Strong => self.writer.begin(Mark::Strong),
            Tag::Emphasis => self.writer.begin(Mark::Emphasis),
            Tag::Struck => self.writer.begin(Mark::Struck),
            Tag::Code => self.writer.begin_code(),
            Tag::Preformatted => self.writer.begin_preformatted(),
            Tag::Quote => self.writer.begin_quote(),
            Tag::Item => self.writer.begin_item(),
            Tag::Table => self.writer.begin_table(),
            Tag::Row => self.writer.begin_row(),
            Tag::Cell => self.writer.begin_cell(),
            Tag::Definition => self.writer.definition(),
            Tag::Inline | Tag::Dropped => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        let tag = Tag::of(name);
        if let Some(hidden) = &mut self.hidden {
            match hidden.after_end(name, tag) {
                hidden::AfterEnd::Hidden => return,
                hidden::AfterEnd::Over => {
                    self.hidden = None;
                    return;
                }
                hidden::AfterEnd::OverBefore => self.hidden = None,
            }
        }
        match tag {
            Tag::Title => {
                if let Title::Reading(raw) = &mut self.title {
                    self.title = Title::Read(std::mem::take(raw));
                }
            }
            Tag::Heading(_) => self.writer.end(Mark::Heading),
            Tag::Paragraph | Tag::Section => self.writer.paragraph(),
            Tag::Block | Tag::Definition => self.writer.block(),
            Tag::Strong => self.writer.end(Mark::Strong),
            Tag::Emphasis => self.writer.end(Mark::Emphasis),
            Tag::Struck => self.writer.end(Mark::Struck),
            Tag::Link => self.writer.end(Mark::Link),
            Tag::Code => self.writer.end_code(),
            Tag::Preformatted => self.writer.end_preformatted(),
            Tag::Quote => self.writer.end(Mark::Quote),
            Tag::List { .. } => self.writer.end(Mark::List),
            Tag::Item => self.writer.end(Mark::Item),
            Tag::Table => self.writer.end_table(),
            Tag::Row => self.writer.end(Mark::Row),
            Tag::Cell => self.writer.end(Mark::Cell),
            Tag::Base | Tag::Image | Tag::Break | Tag::Rule | Tag::Inline | Tag::Dropped => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        match &mut self.title {
            Title::Reading(raw) => raw.push_str(text),
            Title::Missing | Title::Read(_) => self.writer.text(text),
        }
    }
}

impl Callback<Full, ()> for &mut Reader {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Full> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.name.clear();
                self.name.extend_from_slice(name);
                self.attributes.clear();
            }
            CallbackEvent::AttributeName { name } => self.attributes.name(name),
            CallbackEvent::AttributeValue { value } => self.attributes.value(&lossy(value)),
            CallbackEvent::CloseStartTag { .. } => self.start(),
            CallbackEvent::EndTag { name } => {
                self.attributes.clear();
                self.end(name);
            }
            CallbackEvent::String { value } => self.text(&lossy(value)),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
        self.writer.is_full().then_some(Full)
    }
}

/// An http or https URL without credentials.
fn resolved(base: &Url, reference: &str) -> Option<Url> {
    let url = base.join(reference.trim()).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    (is_web && url.as_str().len() <= WEB_LINK_MAX_BYTES).then_some(url)
}

/// The target of a link as it is written; none for a place within the page, and none when there are too many.
fn linked(base: &Url, reference: &str, left: &mut usize) -> Option<String> {
    if reference.trim_start().starts_with('#') {
        return None;
    }
    // Resolving and writing a link costs more than it takes in the page.
    *left = left.checked_sub(1)?;
    let url = resolved(base, reference)?;
    Some(url.as_str().replace('(', "%28").replace(')', "%29").replace('|', "%7C"))
}

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// A short text on one line, without characters that turn or control it.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(WEB_TITLE_CHARS).collect();
    words.join(" ").chars().filter(|c| !is_obeyed(*c)).take(WEB_TITLE_CHARS).collect()
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
