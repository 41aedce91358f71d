//! JSON values whose every look costs a step. The validator sees a value through [`Counted`] alone; when the steps of a
//! [`Meter`] are used up, the look does not return: the validator is unwound, and the meter says so.

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value};

/// How many steps a check may take.
#[derive(Clone, Copy)]
pub(super) struct Meter {
    pub(super) steps: u64,
    /// Whether text may be held against patterns, which may take long for each character.
    pub(super) has_patterns: bool,
}

/// What a character costs that a pattern may look at.
const PATTERN_STEPS: u64 = 64;

/// What unwinds a check that took too many steps.
struct UsedUp;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static PER_CHARACTER: Cell<u64> = const { Cell::new(1) };
}

impl Meter {
    /// Runs a check; nothing when it took more steps than it may.
    pub(super) fn run<T>(self, check: impl FnOnce() -> T) -> Option<T> {
        LEFT.set(self.steps);
        PER_CHARACTER.set(if self.has_patterns { PATTERN_STEPS } else { 1 });
        // The validator keeps nothing between two checks that could be half done.
        let done = catch_unwind(AssertUnwindSafe(check));
        LEFT.set(u64::MAX);
        match done {
            Ok(done) => Some(done),
            Err(cause) if cause.is::<UsedUp>() => None,
            Err(cause) => resume_unwind(cause),
        }
    }
}

#[inline]
fn charge(steps: u64) {
    match LEFT.get().checked_sub(steps) {
        Some(left) => LEFT.set(left),
        None => give_up(),
    }
}

#[cold]
fn give_up() -> ! {
    // What is dropped on the way out may look once more.
    LEFT.set(u64::MAX);
    // Without the panic hook: nothing is broken.
    resume_unwind(Box::new(UsedUp))
}

fn charge_len(len: usize) {
    charge(1 + len as u64);
}

/// How many parts a value has.
fn parts(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len() as u64 / 64,
        Value::Array(items) => 1 + items.iter().map(parts).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(parts).sum::<u64>(),
    }
}

/// JSON values that are counted.
pub(super) struct Metered;

/// A value that is counted.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a>(pub(super) &'a Value);

impl Json for Metered {
    type Node<'a> = Counted<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Counted<'_>) -> T) -> T {
        charge_len(string.len() / 64);
        SerdeJson::with_string_node(buffer, string, |node| f(Counted(node)))
    }
}

impl<'a> Node<'a, Metered> for Counted<'a> {
    type Object = CountedMembers<'a>;
    type Array = CountedItems<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<CountedMembers<'a>> {
        charge(1);
        self.0.as_object().map(CountedMembers)
    }

    fn as_array(&self) -> Option<CountedItems<'a>> {
        charge(1);
        self.0.as_array().map(|items| CountedItems(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.0.as_str();
        charge(1 + text.map_or(0, |text| text.len() as u64).saturating_mul(PER_CHARACTER.get()));
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        charge(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        charge(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        charge(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        charge(1);
        Node::<SerdeJson>::json_type(&self.0)
    }

    fn string_length(&self) -> Option<u64> {
        charge_len(self.0.as_str().map_or(0, str::len) / 64);
        Node::<SerdeJson>::string_length(&self.0)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        charge(parts(expected));
        Node::<SerdeJson>::equals_value(&self.0, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        charge(1);
        Node::<SerdeJson>::identity(&self.0)
    }
}

/// The members of an object.
pub(super) struct CountedMembers<'a>(&'a Map<String, Value>);

pub(super) struct MembersIter<'a>(serde_json::map::Iter<'a>);

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Counted<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        charge(1);
        self.0.next().map(|(name, value)| (name.as_str(), Counted(value)))
    }
}

impl<'a> Object<'a, Metered> for CountedMembers<'a> {
    type Node = Counted<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Counted<'a>> {
        charge(1);
        self.0.get(key.as_str()).map(Counted)
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter(self.0.iter())
    }
}

/// The items of an array.
pub(super) struct CountedItems<'a>(&'a [Value]);

pub(super) struct ItemsIter<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for ItemsIter<'a> {
    type Item = Counted<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        charge(1);
        self.0.next().map(Counted)
    }
}

impl<'a> Array<'a, Metered> for CountedItems<'a> {
    type Node = Counted<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        charge(self.0.iter().map(parts).sum());
        Array::<SerdeJson>::is_unique(&self.0)
    }
}
