//! Tables. A table within a cell of another one is written as words.

use super::super::super::escape::LinePosition;
use super::{Gap, Mark, Writer};

impl Writer {
    pub(in crate::web::markdown) fn begin_table(&mut self) {
        self.paragraph();
        self.tables += 1;
        if self.tables == 1 {
            self.has_row = false;
        }
    }

    pub(in crate::web::markdown) fn end_table(&mut self) {
        if self.tables <= 1 {
            self.end(Mark::Row);
        }
        self.tables = self.tables.saturating_sub(1);
        self.paragraph();
    }

    pub(in crate::web::markdown) fn begin_row(&mut self) {
        if self.tables == 1 {
            self.end(Mark::Row);
        }
        self.block();
        if self.tables == 1 && self.flat == 0 && self.verbatim.is_none() {
            self.push(Mark::Row, String::new(), Some(0));
        }
    }

    pub(in crate::web::markdown) fn begin_cell(&mut self) {
        if self.tables == 1 {
            self.end(Mark::Cell);
        }
        self.end_code();
        let is_in_row = self.open.last().is_some_and(|open| open.mark == Mark::Row);
        if !is_in_row || self.tables != 1 {
            return self.separate(Gap::Line);
        }
        if self.open.last().is_some_and(|row| row.count == Some(0)) {
            self.begin_line();
        }
        if !self.push(Mark::Cell, String::new(), None) {
            return self.separate(Gap::Line);
        }
        self.out.push_str("| ");
        if let Some(cells) = self
            .open
            .iter_mut()
            .rfind(|open| open.mark == Mark::Row)
            .and_then(|row| row.count.as_mut())
        {
            *cells += 1;
        }
        (self.gap, self.gap_quotes, self.has_space, self.place) = (Gap::None, None, false, LinePosition::InLine);
    }

    pub(super) fn row_ended(&mut self, cells: u32) {
        if cells > 0 {
            self.out.push('|');
            if !self.has_row {
                self.has_row = true;
                self.separate(Gap::Line);
                self.begin_line();
                self.out.push('|');
                (0..cells).for_each(|_| self.out.push_str("---|"));
            }
        }
        self.separate(Gap::Line);
    }
}
