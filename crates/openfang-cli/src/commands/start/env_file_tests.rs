//! What is read of a `.env` file.

use super::*;

#[test]
fn names_and_values_are_read_line_by_line() {
    let text = "# tokens\n\nGITHUB_TOKEN=ghp_x=y\nexport A = 1 \nB=\"two words\"\nC='#'\nD=\n";

    let read = parse(text).unwrap();

    let expected = [("A", "1"), ("B", "two words"), ("C", "#"), ("D", ""), ("GITHUB_TOKEN", "ghp_x=y")];
    assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
}

#[test]
fn a_line_that_cannot_be_read_is_named_and_not_quoted() {
    for (text, why) in [
        ("A=1\nsecret", "line 2: write NAME=value"),
        ("A B=secret", "line 1: the name of a variable has letters, digits and _"),
        ("1A=secret", "line 1: the name of a variable has letters, digits and _"),
        ("A=\"secret", "line 1: the quote is not closed"),
        ("A=\"", "line 1: the quote is not closed"),
        ("A=\"se\"cret\"", "line 1: a quoted value does not contain its quote"),
        ("A=sec\0ret", "line 1: a value has no NUL"),
    ] {
        assert_eq!(parse(text).unwrap_err(), why);
    }
}
