//! The table and the JSON of a report.

use super::*;

fn report(ratio: f64) -> Report {
    let round = |cpu| Round {
        requests_per_second: 50_000.4,
        p50_ms: 0.5,
        p99_ms: 1.25,
        cpu_micros: cpu,
        cpu_spread: Some(0.04),
    };
    let ratio = Some(Ratio::Measured(ratio));
    let product = Row { ratio, budget: Some(Budget::Ratio(3.0)), ..Row::of_load("POST /x", 32, round(25.0)) };
    let memory = Row { budget: Some(Budget::Value(20.0)), ..Row::plain("idle memory", 11.0, "MB") };
    let rows = vec![Row::of_load("floor", 32, round(10.0)), product, Row::plain("start", 8.0, "ms"), memory];
    Report { plan: Plan::QUICK, rows }
}

#[test]
fn the_table_is_aligned_and_says_which_limits_were_raised() {
    let table = report(2.5).table();

    let (preamble, rows) = table.split_once("\n\n").unwrap();
    assert!(preamble.contains("raised limit: rate_per_principal = 10000000"));
    let expected = "\
row          conns        value  spread  ratio  budget      req/s      p50      p99
floor           32  10.0 us CPU     4 %                     50000  0.50 ms  1.25 ms
POST /x         32  25.0 us CPU     4 %  2.50x   3.00x  ok  50000  0.50 ms  1.25 ms
start                    8.0 ms
idle memory             11.0 MB                  20 MB  ok
";
    assert_eq!(rows, expected);
}

#[test]
fn a_row_over_its_budget_is_over_and_so_is_the_report() {
    assert!(!report(3.0).is_over());
    assert!(report(3.01).is_over());
    assert!(report(3.01).table().contains("over"));
    assert!(Row { budget: Some(Budget::Value(1.0)), ..Row::plain("x", 1.1, "MB") }.is_over());
    assert!(
        Row { budget: Some(Budget::Ratio(3.0)), ratio: Some(Ratio::Measured(f64::NAN)), ..Row::plain("x", 1.0, "us") }
            .is_over()
    );
}

#[test]
fn the_json_holds_what_the_table_shows() {
    let json: Value = serde_json::from_str(&report(2.5).json().unwrap()).unwrap();

    assert_eq!(json["over"], false);
    assert_eq!(json["raised_limits"]["rate_per_principal_burst"], 10_000_000);
    let expected = json!({
        "row": "POST /x", "value": 25.0, "unit": "us CPU", "spread": 0.04, "ratio": 2.5, "budget": {"ratio": 3.0}, "over": false,
        "load": {"connections": 32, "requests_per_second": 50_000.4, "p50_ms": 0.5, "p99_ms": 1.25},
    });
    assert_eq!(json["rows"][1], expected);
}

#[test]
fn a_ratio_that_could_not_be_measured_is_neither_kept_nor_broken() {
    let ratio = Some(Ratio::Unsteady { least: 1.0, most: 138.0 });
    let row = Row { ratio, budget: Some(Budget::Ratio(1.3)), ..Row::plain("x", 1.0, "us") };

    assert!(!row.is_over());
    assert_eq!(row.verdict(), "?");
}

#[test]
fn a_ratio_of_which_even_the_smallest_round_is_over_is_over() {
    let ratio = Some(Ratio::Unsteady { least: 1.4, most: 138.0 });
    let row = Row { ratio, budget: Some(Budget::Ratio(1.3)), ..Row::plain("x", 1.0, "us") };

    assert!(row.is_over());
    assert_eq!(row.verdict(), "over");
}
