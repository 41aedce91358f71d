//! Entries of skills as they are written.

use serde_json::json;

use super::{SkillEntry, SkillResource, SkillResources};

#[test]
fn an_entry_is_read_as_it_is_written() {
    let file =
        SkillResource { uri: "skill://a/b/SKILL.md".into(), digest: format!("sha256:{}", "0".repeat(64)), size: 3 };
    let listed = json!({ "uri": file.uri, "frontmatter": { "name": "b" }, "resources": [file] });

    let entry: SkillEntry = serde_json::from_value(listed.clone()).unwrap();

    assert_eq!(entry.resources, SkillResources::Listed(vec![file]));
    assert_eq!(serde_json::to_value(entry).unwrap(), listed);
}

#[test]
fn files_that_are_not_known_beforehand_are_said_so_and_nothing_else_stands_for_them() {
    let entry = |resources| json!({ "uri": "skill://a/b/SKILL.md", "frontmatter": {}, "resources": resources });

    let dynamic: SkillEntry = serde_json::from_value(entry(json!("dynamic"))).unwrap();

    assert_eq!(dynamic.resources, SkillResources::Dynamic);
    for wrong in [json!("all"), json!(null), json!({}), json!([{ "uri": "x" }])] {
        serde_json::from_value::<SkillEntry>(entry(wrong)).unwrap_err();
    }
}

#[test]
fn only_whole_digests_of_sha_256_count() {
    let of = |digest: &str| SkillResource { uri: String::new(), digest: digest.to_owned(), size: 0 };
    let hex = "0123456789abcdef".repeat(4);
    assert_eq!(of(&format!("sha256:{hex}")).sha256(), Some(hex.as_str()));
    for wrong in [hex.clone(), format!("sha256:{}", hex.to_uppercase()), format!("sha512:{hex}"), "sha256:".to_owned()]
    {
        assert_eq!(of(&wrong).sha256(), None);
    }
}
