//! The command line.

use super::*;

#[test]
fn options_are_read_in_any_order() {
    let expected = Options {
        openfang: "x/openfang".into(),
        part: Some(Part::Gateway),
        quick: true,
        json: true,
        ..Options::default()
    };

    assert_eq!(options(&["--quick", "--openfang", "x/openfang", "--json", "--gateway"]).unwrap(), expected);
}

#[test]
fn a_missing_binary_and_an_unknown_option_are_refused() {
    assert!(options(&[]).is_err());
    assert!(options(&["--openfang"]).is_err());
    assert!(options(&["--openfang", "x", "--fast"]).is_err());
}
