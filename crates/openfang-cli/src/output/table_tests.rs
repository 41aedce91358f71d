//! Tables and fields, with and without a terminal.

use super::*;

const PIPE: Look = Look { colour: false, width: None };

fn terminal(width: usize) -> Look {
    Look { colour: false, width: Some(width) }
}

fn table() -> Table {
    let mut table = Table::new(&["NAME", "STATE", "TEXT"]);
    table.row(["a".into(), Cell::toned("done", Tone::Good), "one two three four five six".into()]);
    table.row(["日本語".into(), Cell::toned("bad", Tone::Bad), "x\ny\u{1b}[0m".into()]);
    table
}

#[test]
fn columns_are_aligned_by_what_the_eye_sees_and_nothing_is_cut_in_a_pipe() {
    let expected = "\
NAME    STATE  TEXT
a       done   one two three four five six
日本語  bad    x y\\u{1b}[0m
";
    assert_eq!(table().render(&PIPE), expected);
}

#[test]
fn on_a_terminal_the_last_column_is_cut_to_fit() {
    let rendered = table().render(&terminal(30));

    assert_eq!(rendered.lines().nth(1), Some("a       done   one two three…"));
    assert!(rendered.lines().all(|line| line.width() <= 30), "{rendered}");
}

#[test]
fn on_a_terminal_that_is_far_too_narrow_the_last_column_keeps_some_of_itself() {
    let rendered = table().render(&terminal(10));

    assert_eq!(rendered.lines().nth(1), Some("a       done   one two thr…"));
}

#[test]
fn colour_goes_around_the_text_and_not_into_the_padding() {
    let mut table = Table::new(&["STATE", "X"]);
    table.row([Cell::toned("ok", Tone::Good), "1".into()]);

    let rendered = table.render(&Look { colour: true, width: None });

    assert_eq!(rendered, "\u{1b}[1mSTATE\u{1b}[0m  \u{1b}[1mX\u{1b}[0m\n\u{1b}[32mok\u{1b}[0m     1\n");
}

#[test]
fn wide_characters_are_not_cut_in_half() {
    assert_eq!(cut("日本語", 6), "日本語");
    assert_eq!(cut("日本語", 5), "日本…");
    assert_eq!(cut("日本語", 4), "日…");
}

#[test]
fn a_table_without_rows_is_its_heading() {
    assert_eq!(Table::new(&["A", "B"]).render(&PIPE), "A  B\n");
}

#[test]
fn fields_are_aligned_and_wrapped_between_words_on_a_terminal() {
    let mut fields = Fields::default();
    fields.add("a", "one two three four");
    fields.add("long name", "");
    fields.add("b", "averyveryverylongword x");

    assert_eq!(fields.render(&PIPE), "a          one two three four\nlong name\nb          averyveryverylongword x\n");
    let expected = "\
a          one two three
           four
long name
b          averyveryverylongword
           x
";
    assert_eq!(fields.render(&terminal(25)), expected);
}
