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
        (
            r#"{"a":{"command":"sh","env":{"API_TOKEN":"x\"y","HOME":"/h"}},"b":{"command":5}}"#,
            r#"{"a":{"command":"sh","env":{"API_TOKEN":"...","HOME":"/h"}},"b":{"command":5}}"#,
        ),
        (
            r#"a = { command = 'c', env = { MY_KEY = 'x' } }  # mine"#,
            r#"a = { command = 'c', env = { MY_KEY = '...' } }  # mine"#,
        ),
        (r#""args": ["-y", "--api-key", "x", "other"]"#, r#""args": ["-y", "--api-key", "...", "other"]"#),
        (r#""args": ["--token=x", "TOKEN=y", "A=b"]"#, r#""args": ["--token=...", "TOKEN=...", "A=b"]"#),
        (r#""url": "https://h.example/mcp?api_key=x""#, r#""url": "https://h.example/mcp?api_key=...""#),
        (r#""token": "not closed"#, r#""token": "...""#),
        ("}", "}"),
    ];
    for (line, expected) in rows {
        assert_eq!(masked(line), expected);
    }
}
