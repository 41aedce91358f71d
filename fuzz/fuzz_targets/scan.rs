//! The strict scan against `serde_json`, by the law that the property tests check.

#![no_main]

use openfang_types::scan::scan;

#[path = "../../crates/openfang-types/src/scan_laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::scan_agrees_with_serde_json(bytes));
