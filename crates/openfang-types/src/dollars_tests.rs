//! Amounts of money in configurations.

use super::Dollars;

fn read(text: &str) -> Result<Dollars, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn an_amount_is_kept_to_the_billionth() {
    assert_eq!(read("0.1").unwrap().nano(), 100_000_000);
    assert_eq!(read("2").unwrap(), Dollars::of_nano(2_000_000_000));
    assert_eq!(read("0.000000001").unwrap().nano(), 1);
    assert_eq!(serde_json::to_string(&Dollars::of_nano(1_500_000_000)).unwrap(), "1.5");
}

#[test]
fn what_is_no_amount_is_refused() {
    for text in ["-0.01", "1000001", "1e300"] {
        let error = read(text).unwrap_err();
        assert!(error.starts_with("must be an amount of dollars between 0 and 1,000,000"), "{error}");
    }
    assert_eq!(Dollars::new(f64::NAN), None);
    assert_eq!(Dollars::new(f64::INFINITY), None);
}
