//! What a preview of somebody's settings leaves out.

use super::*;

#[test]
fn values_of_secret_names_are_left_out_and_others_stay() {
    let rows = [
        (r#"    "GITHUB_TOKEN": "ghp_x","#, r#"    "GITHUB_TOKEN": "...","#),
        (r#""Authorization": "Bearer x""#, r#""Authorization": "...""#),
        (r#"api_key = "x""#, r#"api_key = "...""#),
        (r#""command": "npx","#, r#""command": "npx","#),
        (r#""keys": ["#, r#""keys": ["#),
        ("}", "}"),
    ];
    for (line, expected) in rows {
        assert_eq!(masked(line), expected);
    }
}
