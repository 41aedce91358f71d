//! Code: what is between its marks is collected first, because the marks must be longer than any in it.

use super::super::super::escape::LinePosition;
use super::{Gap, Mark, Verbatim, Writer};

impl Writer {
    pub(in crate::web::markdown) fn begin_code(&mut self) {
        if self.verbatim.is_none() {
            self.verbatim = Some(Verbatim::Code(String::new()));
        }
    }

    pub(in crate::web::markdown) fn end_code(&mut self) {
        if matches!(self.verbatim, Some(Verbatim::Code(_))) {
            self.end_verbatim();
        }
    }

    pub(in crate::web::markdown) fn begin_preformatted(&mut self) {
        self.paragraph();
        if self.verbatim.is_none() {
            self.verbatim = Some(Verbatim::Preformatted(String::new()));
        }
    }

    pub(in crate::web::markdown) fn end_preformatted(&mut self) {
        if matches!(self.verbatim, Some(Verbatim::Preformatted(_))) {
            self.end_verbatim();
            self.separate(Gap::Paragraph);
        }
    }

    /// Writes a code span or block.
    pub(super) fn end_verbatim(&mut self) {
        match self.verbatim.take() {
            Some(Verbatim::Preformatted(text)) if self.flat == 0 => self.fenced(&text),
            Some(Verbatim::Code(text) | Verbatim::Preformatted(text)) => self.code_span(&text),
            None => {}
        }
    }

    fn code_span(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        self.has_space |= text.starts_with(char::is_whitespace);
        if !words.is_empty() {
            let code = words.join(" ");
            let code = if self.is_open(Mark::Cell) { code.replace('|', "\\|") } else { code };
            let fence = "`".repeat(longest_run_of_backticks(&code) + 1);
            let pad = if code.contains('`') { " " } else { "" };
            self.begin_text();
            self.out.extend([&fence, pad, &code, pad, &fence]);
            self.place = LinePosition::InLine;
        }
        self.has_space |= text.ends_with(char::is_whitespace);
    }

    fn fenced(&mut self, text: &str) {
        let text = text.strip_prefix('\n').unwrap_or(text).trim_end();
        if text.trim().is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run_of_backticks(text).max(2) + 1);
        for line in std::iter::once(fence.as_str()).chain(text.lines()).chain([fence.as_str()]) {
            self.begin_line();
            self.out.push_str(line);
            self.gap = Gap::Line;
            if self.is_full() {
                return;
            }
        }
    }
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}
