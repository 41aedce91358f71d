//! Writes Markdown from left to right. What is open is remembered in a flat list with a limit; what exceeds it is written as
//! plain text. Blank lines, spaces and opening marks are only written when text follows, so empty elements leave nothing.

use openfang_types::limits::{WEB_OPEN_ELEMENTS, WEB_TEXT_MAX_BYTES};

use super::super::escape::{LinePosition, escape};
pub(super) use marks::Mark;

mod code;
mod marks;
mod tables;

#[derive(Debug)]
struct Open {
    mark: Mark,
    /// What is written at its begin: the marker of an item, the number signs of a heading; the target of a link.
    text: String,
    /// The number of the next item of a list, the number of cells of a row.
    count: Option<u32>,
    /// Whether its begin has been written.
    is_written: bool,
}

/// What separates the next text from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Gap {
    None,
    #[default]
    Line,
    Paragraph,
}

/// A text that is collected before it is written, because its own content decides about its marks.
#[derive(Debug)]
enum Verbatim {
    Code(String),
    Preformatted(String),
}

#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
    open: Vec<Open>,
    /// How many of `open` keep their text on one line.
    flat: usize,
    gap: Gap,
    /// Quotes that are open on both sides of the gap.
    gap_quotes: Option<usize>,
    has_space: bool,
    place: LinePosition,
    /// Written before the next text of a line.
    lead: &'static str,
    verbatim: Option<Verbatim>,
    /// How many tables are open, each in a cell of the one before.
    tables: usize,
    /// Whether the table has a row already.
    has_row: bool,
}

impl Writer {
    /// Whether no more is taken.
    pub(super) fn is_full(&self) -> bool {
        let waiting = match &self.verbatim {
            Some(Verbatim::Code(text) | Verbatim::Preformatted(text)) => text.len(),
            None => 0,
        };
        self.out.len() + waiting > WEB_TEXT_MAX_BYTES
    }

    /// The text, with everything ended.
    pub(super) fn finish(mut self) -> String {
        self.end_verbatim();
        self.end_all_down_to(0);
        self.out.truncate(self.out.trim_end().len());
        self.out
    }

    pub(super) fn text(&mut self, text: &str) {
        match &mut self.verbatim {
            Some(Verbatim::Code(held) | Verbatim::Preformatted(held)) => held.push_str(text),
            None => {
                let mut rest = text;
                while let Some(word_at) = rest.find(|c: char| !c.is_whitespace()) {
                    self.has_space |= word_at > 0;
                    rest = &rest[word_at..];
                    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                    self.word(&rest[..end]);
                    rest = &rest[end..];
                    if self.is_full() {
                        return;
                    }
                }
                self.has_space |= !rest.is_empty();
            }
        }
    }

    /// An image; the target is a checked URL.
    pub(super) fn image(&mut self, alt: &str, target: &str) {
        match &mut self.verbatim {
            Some(Verbatim::Code(held) | Verbatim::Preformatted(held)) => held.push_str(alt),
            None => {
                self.begin_text();
                self.out.push_str("![");
                let in_cell = self.is_open(Mark::Cell);
                escape(&mut self.out, alt, &mut LinePosition::InLine, in_cell);
                self.out.push_str("](");
                self.out.push_str(target);
                self.out.push(')');
                self.place = LinePosition::InLine;
            }
        }
    }

    /// The next text begins a line.
    pub(super) fn line(&mut self) {
        if let Some(Verbatim::Code(held)) = &mut self.verbatim {
            held.push(' ');
        } else {
            self.separate(Gap::Line);
        }
    }

    /// The same for an element, which ends code that was left open.
    pub(super) fn block(&mut self) {
        self.end_code();
        self.separate(Gap::Line);
    }

    /// The next text begins a paragraph.
    pub(super) fn paragraph(&mut self) {
        self.end_code();
        self.separate(Gap::Paragraph);
    }

    pub(super) fn rule(&mut self) {
        self.paragraph();
        if self.flat == 0 && self.verbatim.is_none() {
            self.begin_line();
            self.out.push_str("---");
            self.separate(Gap::Paragraph);
        }
    }

    pub(super) fn definition(&mut self) {
        self.block();
        if self.flat == 0 && self.verbatim.is_none() {
            self.lead = ": ";
        }
    }

    pub(super) fn begin(&mut self, mark: Mark) {
        self.push(mark, String::new(), None);
    }

    /// A link, which ends the one before. Without a target its text is only text.
    pub(super) fn begin_link(&mut self, target: Option<String>) {
        self.end(Mark::Link);
        if let Some(target) = target {
            self.push(Mark::Link, target, None);
        }
    }

    pub(super) fn begin_heading(&mut self, level: usize) {
        self.paragraph();
        if self.flat == 0 {
            self.push(Mark::Heading, format!("{} ", "#".repeat(level)), None);
        }
    }

    pub(super) fn begin_quote(&mut self) {
        self.paragraph();
        if self.flat == 0 {
            self.push(Mark::Quote, "> ".to_owned(), None);
        }
    }

    /// A list; with a number its items are numbered from there.
    pub(super) fn begin_list(&mut self, first: Option<u32>) {
        self.around_list();
        if self.flat == 0 {
            self.push(Mark::List, String::new(), first);
        }
    }

    pub(super) fn begin_item(&mut self) {
        self.end(Mark::Item);
        self.block();
        if self.flat > 0 {
            return;
        }
        let list = self.open.iter_mut().rfind(|open| open.mark == Mark::List);
        let marker = match list.and_then(|list| list.count.as_mut()) {
            Some(number) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            None => "- ".to_owned(),
        };
        self.push(Mark::Item, marker, None);
    }

    /// Ends the innermost of these, with everything that was opened in it and not ended.
    pub(super) fn end(&mut self, mark: Mark) {
        let is_of_inner_table = matches!(mark, Mark::Row | Mark::Cell) && self.tables > 1;
        if is_of_inner_table || matches!(self.verbatim, Some(Verbatim::Preformatted(_))) {
            return self.separate(Gap::Line);
        }
        for at in (0..self.open.len()).rev() {
            if self.open[at].mark == mark {
                self.end_code();
                return self.end_all_down_to(at);
            }
            if mark.stays_within(self.open[at].mark) {
                return;
            }
        }
    }

    fn end_all_down_to(&mut self, at: usize) {
        while self.open.len() > at {
            if let Some(open) = self.open.pop() {
                self.ended(open);
            }
        }
    }

    fn ended(&mut self, open: Open) {
        if open.mark.is_flat() {
            self.flat = self.flat.saturating_sub(1);
        }
        match open.mark {
            Mark::Strong | Mark::Emphasis | Mark::Struck => {
                if let (true, Some(side)) = (open.is_written, open.mark.sides()) {
                    self.out.push_str(side);
                }
            }
            Mark::Link => {
                if open.is_written {
                    self.out.push_str("](");
                    self.out.push_str(&open.text);
                    self.out.push(')');
                }
            }
            Mark::Heading | Mark::Quote => self.separate(Gap::Paragraph),
            Mark::List => self.around_list(),
            Mark::Item => self.separate(Gap::Line),
            Mark::Cell => {
                self.out.push(' ');
                self.has_space = false;
            }
            Mark::Row => self.row_ended(open.count.unwrap_or_default()),
        }
    }

    fn around_list(&mut self) {
        self.end_code();
        let gap = if self.is_open(Mark::Item) { Gap::Line } else { Gap::Paragraph };
        self.separate(gap);
    }

    fn word(&mut self, word: &str) {
        self.begin_text();
        let in_cell = self.is_open(Mark::Cell);
        escape(&mut self.out, word, &mut self.place, in_cell);
    }

    /// Writes what has to be there before a text: a gap, a space, the marks that were opened.
    fn begin_text(&mut self) {
        self.begin_line();
        if std::mem::take(&mut self.has_space) && self.place != LinePosition::LineStart {
            self.out.push(' ');
        }
        for open in self.open.iter_mut().filter(|open| !open.is_written) {
            let begin = match open.mark {
                Mark::Strong | Mark::Emphasis | Mark::Struck => open.mark.sides().unwrap_or_default(),
                Mark::Link => "[",
                Mark::Heading => open.text.as_str(),
                Mark::Quote | Mark::List | Mark::Item | Mark::Row | Mark::Cell => continue,
            };
            self.out.push_str(begin);
            open.is_written = true;
            self.place = LinePosition::InLine;
        }
    }

    /// Writes the gap, and what a new line begins with.
    fn begin_line(&mut self) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        let quotes = self.gap_quotes.take();
        if gap == Gap::None {
            return;
        }
        for open in self.open.iter_mut().rev().filter(|open| open.is_written) {
            if let Some(side) = open.mark.sides() {
                self.out.push_str(side);
                open.is_written = false;
            }
        }
        if !self.out.is_empty() {
            self.out.push('\n');
            if gap == Gap::Paragraph {
                self.blank_prefix(quotes.unwrap_or_default());
                self.out.push('\n');
            }
        }
        for open in &mut self.open {
            match open.mark {
                Mark::Item if std::mem::replace(&mut open.is_written, true) => {
                    self.out.extend(std::iter::repeat_n(' ', open.text.len()));
                }
                Mark::Quote | Mark::Item => self.out.push_str(&open.text),
                Mark::Strong
                | Mark::Emphasis
                | Mark::Struck
                | Mark::Link
                | Mark::Heading
                | Mark::List
                | Mark::Row
                | Mark::Cell => {}
            }
        }
        self.out.push_str(std::mem::take(&mut self.lead));
        self.has_space = false;
        self.place = LinePosition::LineStart;
    }

    /// What a blank line within so many quotes begins with.
    fn blank_prefix(&mut self, quotes: usize) {
        let mut left = quotes;
        let from = self.out.len();
        for open in self.open.iter().filter(|open| matches!(open.mark, Mark::Quote | Mark::Item)) {
            if left == 0 {
                break;
            }
            if open.mark == Mark::Quote {
                self.out.push_str(&open.text);
                left -= 1;
            } else {
                self.out.extend(std::iter::repeat_n(' ', open.text.len()));
            }
        }
        let end = from + self.out[from..].trim_end().len();
        self.out.truncate(end);
    }

    fn separate(&mut self, gap: Gap) {
        if let Some(Verbatim::Preformatted(held)) = &mut self.verbatim {
            if !held.is_empty() && !held.ends_with('\n') {
                held.push('\n');
            }
        } else if self.flat > 0 {
            self.has_space = true;
        } else {
            self.gap = self.gap.max(gap);
            self.lead = "";
            let quotes = self.open.iter().filter(|open| open.mark == Mark::Quote).count();
            self.gap_quotes = Some(self.gap_quotes.map_or(quotes, |known| known.min(quotes)));
        }
    }

    /// Opens something, unless too much is open. Says whether it did.
    fn push(&mut self, mark: Mark, text: String, count: Option<u32>) -> bool {
        if self.open.len() >= WEB_OPEN_ELEMENTS || matches!(self.verbatim, Some(Verbatim::Preformatted(_))) {
            return false;
        }
        self.end_code();
        self.flat += usize::from(mark.is_flat());
        self.open.push(Open { mark, text, count, is_written: false });
        true
    }

    fn is_open(&self, mark: Mark) -> bool {
        self.open.iter().any(|open| open.mark == mark)
    }
}
