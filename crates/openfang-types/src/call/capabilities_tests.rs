//! What clients declare, sensible and not.

use super::*;

fn read(json: &str) -> Vec<Capability> {
    let raw = RawValue::from_string(json.to_owned()).unwrap();
    let can = ClientCapabilities::read(&raw);
    assert_eq!(ClientCapabilities::from_byte(can.to_byte()), can);
    ALL.into_iter().filter(|capability| can.has(*capability)).collect()
}

#[test]
fn an_empty_elicitation_means_forms_and_a_url_mode_must_be_declared() {
    use Capability::{ElicitationForm, ElicitationUrl, Roots, Sampling};
    assert_eq!(read("{}"), []);
    assert_eq!(read(r#"{"elicitation":{}}"#), [ElicitationForm]);
    assert_eq!(read(r#"{"elicitation":{"url":{}}}"#), [ElicitationUrl]);
    assert_eq!(read(r#"{"elicitation":{"form":{},"url":{}}}"#), [ElicitationForm, ElicitationUrl]);
    assert_eq!(read(r#"{"sampling":{"tools":{}},"roots":{"listChanged":true}}"#), [Sampling, Roots]);
}

#[test]
fn nonsense_declares_nothing() {
    for nonsense in ["[]", "null", "7", r#"{"sampling":true}"#, r#"{"roots":null,"elicitation":"yes"}"#] {
        assert_eq!(read(nonsense), [], "{nonsense}");
    }
}
