//! What others see of our arguments.

use super::*;

fn seen(arguments: &[&str]) -> String {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    shown(OsStr::new("openfang"), &arguments).into_string().unwrap()
}

#[test]
fn the_command_is_shown_and_nothing_else() {
    assert_eq!(seen(&["start"]), "openfang start");
    assert_eq!(seen(&["--json", "tool", "call", "x", "--args", "{\"key\":\"s3cret\"}"]), "openfang tool");
    assert_eq!(seen(&["--home", "/tmp/s3cret", "mcp"]), "openfang mcp");
    assert_eq!(seen(&["--home=S3CRET"]), "openfang");
}
