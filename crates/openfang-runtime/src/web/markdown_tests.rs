//! Pages and what becomes of them; pages that try to take time, memory or the process.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use openfang_types::limits::{FETCHED_MAX_BYTES, WEB_TEXT_MAX_BYTES};
use url::Url;

use super::{Page, convert};

/// A debug build on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn read(html: &str) -> Page {
    convert(html, &Url::parse("https://example.org/dir/page.html").unwrap())
}

#[test]
fn a_link_is_resolved_where_the_page_was_found() {
    assert_eq!(read("<a href='x'>x</a>").markdown, "[x](https://example.org/dir/x)");
}

#[test]
fn hostile_pages_take_bounded_time_and_memory() {
    let large = FETCHED_MAX_BYTES as usize;
    let nested = |open: &str, times: usize| open.repeat(times) + "deep";
    let mut attributes = "<p ".to_owned();
    (0..100_000).for_each(|n| write!(attributes, "a{n}=b ").unwrap());
    let base = format!("<base href='https://example.org/{}/'>", "x".repeat(1_000));
    let pages = [
        ("nesting", nested("<div><b><blockquote><ul><li>", 30_000)),
        ("tables", nested("<table><tr><td>", 80_000)),
        ("unopened ends", "</b></ul></table>".repeat(50_000)),
        ("nothing but <", "<".repeat(large)),
        ("attributes", attributes + ">x"),
        ("one attribute", format!("<p style='{}'>x", "display:".repeat(large / 8))),
        ("entities", "&lt;&amp;&#x41;&notanentity".repeat(50_000)),
        ("links", base.clone() + &"<a href=x>x</a>".repeat(80_000)),
        ("open links", base + &"<a href=x>x".repeat(80_000)),
        ("emphasis", "<b>x<p>".repeat(120_000)),
        ("open code", "<code>x".repeat(120_000)),
        ("comment", format!("<!--{}", "x".repeat(large))),
        ("title", format!("<title>{}", "x ".repeat(large / 2))),
        ("hidden", "<p hidden><div>".repeat(50_000)),
        ("rows", format!("<table>{}", "<tr><td>x".repeat(80_000))),
        ("cells", format!("<table><tr>{}", "<td>".repeat(250_000))),
        ("breaks", format!("{}{}", "<blockquote><ul><li>".repeat(60), "x<br>".repeat(120_000))),
    ];
    for (name, page) in pages {
        let begun = Instant::now();
        let read = read(&page);
        assert!(begun.elapsed() < PATIENCE, "{name} took {:?}", begun.elapsed());
        assert!(read.markdown.len() <= WEB_TEXT_MAX_BYTES + page.len().max(16_384), "{name}");
    }
}

#[test]
fn more_text_than_is_kept_is_cut_and_said() {
    let page = read(&format!("{}{}", "<blockquote>".repeat(100), "x<br>".repeat(1_000_000)));
    assert!(page.is_cut);
    assert!(!read("<p>x").is_cut);
}

#[test]
fn any_bytes_become_text_without_markup_of_their_own() {
    proptest::proptest!(|(html in "[<>/!\\-a-c =\"'&;\\[\\]()*`#\\n]{0,200}")| {
        let page = read(&html);
        proptest::prop_assert!(!page.markdown.contains("](javascript"));
        proptest::prop_assert!(!page.markdown.contains("<script"));
    });
}
