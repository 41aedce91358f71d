//! Calls that a process left behind.

use std::sync::Arc;

use openfang_model::{Call, CallArguments};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;

use super::{CallState, OpenCalls, open_calls};
use crate::catalog::Catalog;
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tool_source::BuiltinTools;
use crate::tools::{Tool, ToolFuture};

/// A tool that claims this about itself.
struct Claims(&'static str, ToolAnnotations);

#[derive(JsonSchema)]
struct Args {}

impl Tool for Claims {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::of::<Args>(self.0.parse().unwrap(), "d", SinkKind::Writes, self.1)
    }

    fn call<'a>(&'a self, _: &'a CallContext, _: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async { Ok(Outcome::Done(ToolOutput::text("done"))) })
    }
}

fn catalog() -> Catalog {
    let tools: [Box<dyn Tool>; 3] = [
        Box::new(Claims("add_numbers", ToolAnnotations::READ_ONLY)),
        Box::new(Claims("memory_store", ToolAnnotations::REPLACES)),
        Box::new(Claims("get_counter", ToolAnnotations::ADDS)),
    ];
    Catalog::new(vec![Arc::new(BuiltinTools::new(tools).unwrap())])
}

fn state(id: &str, tool: &str, is_begun: bool, is_done: bool) -> CallState {
    let call = Call { id: id.to_owned(), name: tool.to_owned(), arguments: CallArguments::parse("{}") };
    CallState { call, is_begun, is_done }
}

fn sorted(states: &[CallState]) -> (Vec<String>, Vec<String>) {
    let OpenCalls { to_run, unknown } = open_calls(states.to_vec(), &catalog());
    let ids = |states: Vec<CallState>| states.into_iter().map(|state| state.call.id).collect();
    (ids(to_run), ids(unknown))
}

#[test]
fn calls_that_have_not_begun_run_and_those_that_are_done_do_not() {
    let calls = [state("a", "memory_store", false, true), state("b", "get_counter", false, false)];
    assert_eq!(sorted(&calls), (vec!["b".to_owned()], vec![]));
}

#[test]
fn a_call_that_may_be_repeated_runs_again_and_any_other_one_is_asked_about() {
    // memory_store replaces: twice is once. get_counter counts each time.
    assert_eq!(sorted(&[state("a", "memory_store", true, false)]), (vec!["a".to_owned()], vec![]));
    assert_eq!(sorted(&[state("a", "get_counter", true, false)]), (vec![], vec!["a".to_owned()]));
}

#[test]
fn nothing_else_runs_before_a_person_has_looked() {
    let calls = [
        state("a", "get_counter", true, true),
        state("b", "get_counter", true, false),
        state("c", "add_numbers", false, false),
    ];
    assert_eq!(sorted(&calls), (vec![], vec!["b".to_owned()]));
}

#[test]
fn what_a_tool_that_is_gone_has_done_is_asked_about() {
    assert_eq!(sorted(&[state("a", "no_such_tool", true, false)]), (vec![], vec!["a".to_owned()]));
}
