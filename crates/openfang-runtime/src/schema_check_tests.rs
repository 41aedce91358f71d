//! How long a check may take, whatever schema and value come together.

use serde_json::json;

use super::*;

const STEPS: u64 = 100_000;

/// A chain of types in which a part of a value is held twice against the next one, and the value that makes it go all the way.
fn doubling_through_parts(applied: &str, levels: usize) -> (Value, Value) {
    let next = |at: usize| json!({ "$ref": format!("#/$defs/s{}", at + 1) });
    let step = |at: usize| json!({ "properties": { "x": { applied: [next(at), next(at)] } } });
    let mut defs: serde_json::Map<_, _> = (0..levels).map(|at| (format!("s{at}"), step(at))).collect();
    defs.insert(format!("s{levels}"), json!({ "type": "string" }));
    let value = (0..levels).fold(json!(1), |inner, _| json!({ "x": inner }));
    (json!({ "$ref": "#/$defs/s0", "$defs": defs }), value)
}

#[test]
fn work_that_multiplies_with_the_value_ends_with_its_steps() {
    let (schema, value) = doubling_through_parts("anyOf", 25);
    let schema = CompiledSchema::of(&schema).unwrap();
    assert_eq!(schema.check_quickly(&value, 1_000_000), None, "it needs a thread");
    assert_eq!(schema.check(&value, STEPS), Err(Misfit::TooManySteps));

    let (schema, value) = doubling_through_parts("allOf", 25);
    let value: Value = serde_json::from_str(&value.to_string().replace('1', "\"y\"")).unwrap();
    assert_eq!(CompiledSchema::of(&schema).unwrap().check(&value, STEPS), Err(Misfit::TooManySteps));
}

#[test]
fn after_a_check_that_took_too_long_the_same_schema_goes_on_working() {
    let (schema, long) = doubling_through_parts("anyOf", 25);
    let schema = CompiledSchema::of(&schema).unwrap();
    assert_eq!(schema.check(&long, STEPS), Err(Misfit::TooManySteps));

    assert_eq!(schema.check(&json!({ "x": 1 }), STEPS), Ok(()));
    assert!(matches!(schema.check(&long["x"]["x"], 3), Err(Misfit::TooManySteps)));
}

#[test]
fn text_that_patterns_look_at_is_charged_for() {
    let schema = CompiledSchema::of(&json!({ "properties": { "a": { "pattern": "(x+x+)+y" }, "b": {} } })).unwrap();
    let long = "x".repeat(100_000);
    assert_eq!(schema.check(&json!({ "a": long }), STEPS), Err(Misfit::TooManySteps));
    assert_eq!(schema.check(&json!({ "a": "xxy", "b": long }), STEPS), Ok(()));
}

#[test]
fn the_patterns_of_a_schema_share_one_space() {
    let patterns = |count: usize| {
        let of = |at: usize| (format!("p{at}"), json!({ "pattern": format!("^[a-z]{{2000}}{at}$") }));
        json!({ "properties": (0..count).map(of).collect::<serde_json::Map<_, _>>() })
    };
    assert!(CompiledSchema::of(&patterns(1)).is_ok());
    assert!(CompiledSchema::of(&patterns(900)).is_err_and(|why| why.contains("pattern") || why.contains("regex")));
}

#[test]
fn the_deepest_value_against_the_longest_row_fits_the_stack_of_a_check() {
    let row = 30;
    let next = |at: usize| json!({ "$ref": format!("#/$defs/s{}", at + 1) });
    let mut defs: serde_json::Map<_, _> =
        (0..row).map(|at| (format!("s{at}"), json!({ "allOf": [next(at)] }))).collect();
    defs.insert(format!("s{row}"), json!({ "properties": { "x": { "$ref": "#/$defs/s0" } }, "type": "object" }));
    let schema = CompiledSchema::of(&json!({ "$ref": "#/$defs/s0", "$defs": defs })).unwrap();
    let value = (0..126).fold(json!({}), |inner, _| json!({ "x": inner }));
    let wrong = (0..126).fold(json!(1), |inner, _| json!({ "x": inner }));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (checks, ada) = (SchemaChecks::default(), owner("ada"));
    let checked = checks.run(&ada, move || (schema.check(&value, 10_000_000), schema.check(&wrong, 10_000_000)));
    let (fits, misfits) = runtime.block_on(checked).unwrap();
    assert_eq!(fits, Ok(()));
    assert!(matches!(misfits, Err(Misfit::Problems(_))), "{misfits:?}");
}

fn owner(name: &str) -> Owner {
    name.parse().unwrap()
}

#[tokio::test]
async fn a_check_that_hangs_takes_its_owners_place_alone_and_nobody_waits_for_ever() {
    let checks = SchemaChecks { patience: Duration::from_millis(1), ..SchemaChecks::default() };
    let (held, holds) = std::sync::mpsc::sync_channel::<()>(0);
    let holds = Arc::new(std::sync::Mutex::new(holds));
    let hang = async |checks: &SchemaChecks, name| {
        let (holds, owner) = (Arc::clone(&holds), owner(name));
        let hanging = checks.run(&owner, move || holds.lock().map(|holds| holds.recv()).is_ok());
        assert_eq!(hanging.await, None);
    };
    // One owner's many checks take the share of one.
    for _ in 0..5 {
        hang(&checks, "ada").await;
    }
    let checks = SchemaChecks { patience: SCHEMA_CHECK_TIME, ..checks };
    assert_eq!(checks.run(&owner("bob"), || 1).await, Some(1));

    let checks = SchemaChecks { patience: Duration::from_millis(1), ..checks };
    hang(&checks, "bob").await;
    assert_eq!(checks.run(&owner("eve"), || 1).await, None, "there are no more of them");
    assert_eq!(SchemaChecks::default().run(&owner("eve"), || 1).await, Some(1));

    drop(held);
    let checks = SchemaChecks { patience: SCHEMA_CHECK_TIME, ..checks };
    for name in ["ada", "bob", "eve"] {
        assert_eq!(checks.run(&owner(name), || 1).await, Some(1));
    }
    assert!(checks.owners.lock().unwrap().len() <= 3, "who is done is forgotten");
}

#[test]
fn a_pattern_that_backtracks_elsewhere_takes_linear_time_here() {
    let schema = CompiledSchema::of(&json!({"type": "string", "pattern": "^(a+)+$"})).unwrap();
    let text = format!("{}!", "a".repeat(1_000));
    assert!(matches!(schema.check(&json!(text), STEPS), Err(Misfit::Problems(_))));
}

#[test]
fn a_small_value_is_checked_at_once_also_where_the_schema_has_references() {
    let point = json!({ "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"] });
    let schema = json!({
        "properties": { "at": { "anyOf": [{ "$ref": "#/$defs/point" }, { "type": "null" }] } },
        "$defs": { "point": point },
    });
    let schema = CompiledSchema::of(&schema).unwrap();

    assert_eq!(schema.check_quickly(&json!({ "at": { "x": 1 } }), STEPS), Some(Ok(())));
    assert!(matches!(schema.check_quickly(&json!({ "at": {} }), STEPS), Some(Err(Misfit::Problems(_)))));
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(schema.check_quickly(&json!({ "at": { "x": deep } }), STEPS), None);
    assert_eq!(schema.check_quickly(&json!({ "at": "x".repeat(10_000_000) }), STEPS), None);
}

#[test]
fn to_say_why_a_value_does_not_fit_takes_few_steps_however_many_the_check_may_take() {
    let (schema, value) = doubling_through_parts("anyOf", 14);
    let schema = CompiledSchema::of(&schema).unwrap();

    let checked = schema.check(&value, u64::MAX / SCHEMA_USUAL_EXPANSION);

    assert_eq!(checked, Err(Misfit::Problems(vec!["to say why takes too many steps".to_owned()])));
}
