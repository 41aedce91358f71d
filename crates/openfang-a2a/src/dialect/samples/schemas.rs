//! The official JSON schemas of 0.1 to 0.3, and one of ours for OpenFang's dialect.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

/// A schema file and the location of its definitions.
pub(in crate::dialect) struct Schema {
    place: &'static str,
    json: Value,
    validators: Mutex<BTreeMap<String, Arc<Validator>>>,
}

pub(in crate::dialect) static OPENFANG: LazyLock<Schema> =
    LazyLock::new(|| Schema::new("definitions", include_str!("../../../../../tests/schemas/a2a/openfang.json")));
pub(in crate::dialect) static V01: LazyLock<Schema> =
    LazyLock::new(|| Schema::new("$defs", include_str!("../../../../../tests/schemas/a2a/v0.1.0.json")));
pub(in crate::dialect) static V02: LazyLock<Schema> =
    LazyLock::new(|| Schema::new("definitions", include_str!("../../../../../tests/schemas/a2a/v0.2.6.json")));
pub(in crate::dialect) static V03: LazyLock<Schema> =
    LazyLock::new(|| Schema::new("definitions", include_str!("../../../../../tests/schemas/a2a/v0.3.0.json")));

impl Schema {
    /// The official files allow unknown members, but we must write none.
    fn new(place: &'static str, text: &str) -> Self {
        let mut json: Value = serde_json::from_str(text).unwrap();
        for definition in json[place].as_object_mut().unwrap().values_mut() {
            if definition.get("properties").is_some() {
                definition["additionalProperties"] = json!(false);
            }
        }
        Self { place, json, validators: Mutex::default() }
    }

    /// Whether a document matches a definition.
    pub(in crate::dialect) fn holds(&self, definition: &str, document: &Value) {
        let validator = self.validator(definition);
        let errors: Vec<String> = validator
            .iter_errors(document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{definition}: {errors:#?} in {document:#}");
    }

    fn validator(&self, definition: &str) -> Arc<Validator> {
        assert!(self.json[self.place].get(definition).is_some(), "there is no {definition}");
        let mut validators = self.validators.lock().unwrap();
        let made = validators.entry(definition.to_owned()).or_insert_with(|| {
            let root = json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$ref": format!("#/{}/{definition}", self.place),
                self.place: self.json[self.place],
            });
            Arc::new(jsonschema::validator_for(&root).unwrap())
        });
        Arc::clone(made)
    }
}
