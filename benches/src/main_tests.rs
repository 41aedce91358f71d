//! The command line.

use super::*;

#[test]
fn options_are_read_in_any_order() {
    let expected = Options { openfang: "x/openfang".into(), peer: None, quick: true, json: true, strict: false };

    assert_eq!(options(&["--quick", "--openfang", "x/openfang", "--json"]).unwrap(), expected);
}

#[test]
fn a_missing_binary_and_an_unknown_option_are_refused() {
    assert!(options(&[]).is_err());
    assert!(options(&["--openfang"]).is_err());
    assert!(options(&["--openfang", "x", "--fast"]).is_err());
}
