//! The zoo: pages, and facts about them that were written before the converter.

use serde::Deserialize;
use url::Url;

use super::{Form, read};

#[derive(Deserialize)]
struct Zoo {
    page: Vec<ZooPage>,
}

#[derive(Deserialize)]
struct ZooPage {
    name: String,
    html: String,
    #[serde(rename = "type", default = "html")]
    media_type: String,
    #[serde(default)]
    latin1: bool,
    title: Option<String>,
    shows: Vec<String>,
    #[serde(default)]
    hides: Vec<String>,
}

fn html() -> String {
    "text/html".to_owned()
}

#[test]
fn pages_say_what_a_reader_would_see() {
    let zoo: Zoo = toml::from_str(include_str!("zoo.toml")).unwrap();
    assert!(zoo.page.len() >= 60);
    let mut faults = Vec::new();
    for page in zoo.page {
        let bytes = match page.latin1 {
            true => page.html.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect(),
            false => page.html.clone().into_bytes(),
        };
        let content = read(&bytes, &page.media_type, &Url::parse("https://zoo.example/page").unwrap());
        let Form::Text { text, .. } = content.form else { panic!("{} is not text", page.name) };
        let expected = page.shows.iter().map(|fact| fact.replace("BASE", "https://zoo.example"));
        let missing: Vec<String> = expected.filter(|fact| !text.contains(fact)).collect();
        let leaked: Vec<&String> = page.hides.iter().filter(|fact| text.contains(*fact)).collect();
        let is_titled = page.title.is_none() || page.title == content.title;
        if !missing.is_empty() || !leaked.is_empty() || !is_titled {
            faults.push(format!(
                "{}: {text:?} misses {missing:?}, shows {leaked:?}, title {:?}",
                page.name, content.title
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn bytes_that_are_no_text_become_blocks_or_nothing() {
    let url = Url::parse("https://zoo.example/x").unwrap();
    let form = |bytes: &[u8], kind: &str| read(bytes, kind, &url).form;
    assert!(matches!(form(b"\x89PNG", "image/png"), Form::Block(_)));
    assert!(matches!(form(b"%PDF", "application/pdf; x=y"), Form::Block(_)));
    assert!(matches!(form(b"<svg>", "image/svg+xml"), Form::Opaque));
    assert!(matches!(form(b"\0\x01", ""), Form::Opaque));
    assert!(matches!(form(b"MZ", "application/octet-stream"), Form::Opaque));
    let wide: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("<p>äx".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    assert!(matches!(form(&wide, "text/html"), Form::Text { text, .. } if text == "äx"));
}
