//! URIs of files, and directories of them.

use openfang_mcp::listing::{Entry, Listed, Listing};
use openfang_mcp::skills::{SkillEntry, SkillResource, SkillResources};
use openfang_runtime::mcp_server::raw;
use serde_json::Value;

use super::{directory, media_type, uri_of};

fn listing(files: &[&str]) -> Listing {
    let name = "pdf-forms".parse().unwrap();
    let file = |path: &&str| SkillResource { uri: uri_of(&name, path), digest: String::new(), size: 1 };
    let resources = SkillResources::Listed(files.iter().map(file).collect());
    let entry = SkillEntry { uri: uri_of(&name, "SKILL.md"), frontmatter: serde_json::Map::new(), resources };
    Listing::new(Listed::Skills, vec![Entry::new(entry.uri.clone(), raw(&entry))])
}

fn children(listing: &Listing, uri: &str) -> Option<Vec<(String, String)>> {
    let found = directory(listing, uri).ok()?;
    let child = |entry: &Entry| {
        let value: Value = serde_json::from_str(&entry.json()).unwrap();
        (value["name"].as_str().unwrap().to_owned(), value["mimeType"].as_str().unwrap().to_owned())
    };
    Some(found.entries().map(child).collect())
}

#[test]
fn a_path_has_one_uri_whatever_is_in_it() {
    let uri = |path: &str| uri_of(&"a".parse().unwrap(), path);
    assert_eq!(uri("SKILL.md"), "skill://openfang/a/SKILL.md");
    assert_eq!(uri("my file#1?.md"), "skill://openfang/a/my%20file%231%3F.md");
    assert_eq!(uri("100%/\u{e9}"), "skill://openfang/a/100%25/%C3%A9");
}

#[test]
fn directories_have_files_and_directories_and_files_have_nothing() {
    let listing = listing(&["SKILL.md", "references/a.md", "references/deep/b.json", "logo.png"]);
    let of = |name: &str, kind: &str| (name.to_owned(), kind.to_owned());

    let top = children(&listing, "skill://openfang/pdf-forms").unwrap();
    let expected = [of("SKILL.md", "text/markdown"), of("logo.png", "image/png"), of("references", "inode/directory")];
    assert_eq!(top, expected);
    let below = children(&listing, "skill://openfang/pdf-forms/references/").unwrap();
    assert_eq!(below, [of("a.md", "text/markdown"), of("deep", "inode/directory")]);
    for uri in ["skill://openfang/pdf-forms/SKILL.md", "skill://openfang/pdf-forms/refer", "skill://openfang", "x", ""]
    {
        assert_eq!(children(&listing, uri), None, "{uri}");
    }
}

#[test]
fn media_types_go_by_the_end_of_the_name() {
    assert_eq!(
        (media_type("a.MD"), media_type("a"), media_type("x.tar.gz")),
        ("text/markdown", "application/octet-stream", "application/octet-stream")
    );
}
