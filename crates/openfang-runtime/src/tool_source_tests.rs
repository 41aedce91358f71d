//! Sources side by side in a catalogue: who has a name, and what replacing one leaves alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::ToolAnnotations;

use super::*;
use crate::catalog::Catalog;
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tools::ToolFuture;

struct Says(&'static str, Origin);

impl Tool for Says {
    fn definition(&self) -> ToolDefinition {
        let name = self.0.parse().unwrap();
        let tool = ToolDefinition::of::<()>(name, "Says.", SinkKind::Reads, ToolAnnotations::READ_ONLY);
        ToolDefinition { origin: self.1.clone(), ..tool }
    }

    fn call<'a>(&'a self, _: &'a CallContext, _: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async { Ok(Outcome::Done(ToolOutput::text("said"))) })
    }
}

/// A source that makes its tools when they are needed, and counts how many it made.
struct Lazy {
    origin: Origin,
    names: Names,
    made: AtomicUsize,
}

impl Lazy {
    fn new(server: &str, names: &[&'static str]) -> Arc<Self> {
        let origin = Origin::McpServer(server.parse().unwrap());
        Arc::new(Self { origin, names: names.iter().copied().collect(), made: AtomicUsize::new(0) })
    }
}

impl ToolSource for Lazy {
    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn get(&self, place: usize) -> Option<Arc<Registered>> {
        self.made.fetch_add(1, Ordering::Relaxed);
        let known = ["", "add", "look", "say"]
            .into_iter()
            .find(|known| Some(*known) == self.names.get(place))?;
        Some(Arc::new(Registered::new(Box::new(Says(known, self.origin.clone())), Arc::default())))
    }
}

fn own(names: &[&'static str]) -> Arc<BuiltinTools> {
    let tools = names.iter().map(|name| Box::new(Says(name, Origin::Builtin)) as Box<dyn Tool>);
    Arc::new(BuiltinTools::new(tools).unwrap())
}

fn origin_of(catalog: &Catalog, name: &str) -> Option<String> {
    catalog.get(&name.parse().unwrap()).map(|tool| tool.traits.origin.to_string())
}

#[test]
fn a_name_belongs_to_the_first_source_that_has_it() {
    let catalog = Catalog::new(vec![own(&["add"])]);
    catalog.replace(|_| true, vec![Lazy::new("a", &["add", "say", ""]), Lazy::new("b", &["say", "look"])]);

    assert_eq!(origin_of(&catalog, "add").as_deref(), Some("the built-in tools"));
    assert_eq!(origin_of(&catalog, "say").as_deref(), Some("the MCP server a"));
    assert_eq!(origin_of(&catalog, "look").as_deref(), Some("the MCP server b"));
    assert_eq!(origin_of(&catalog, "none"), None);
    let names: Vec<String> = catalog.sorted().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["add", "look", "say"]);
}

#[test]
fn replacing_the_sources_of_one_kind_leaves_the_others_alone() {
    let catalog = Catalog::new(vec![own(&["add"])]);
    catalog.replace(|_| false, vec![Lazy::new("a", &["say"])]);
    let is_b = |origin: &Origin| origin.server().is_some_and(|server| server.as_str() == "b");
    catalog.replace(is_b, vec![Lazy::new("b", &["look"])]);
    assert_eq!(catalog.version(), 2);
    assert!(origin_of(&catalog, "say").is_some() && origin_of(&catalog, "look").is_some());

    catalog.replace(is_b, Vec::new());

    assert!(origin_of(&catalog, "say").is_some() && origin_of(&catalog, "add").is_some());
    assert_eq!(origin_of(&catalog, "look"), None);
}

#[test]
fn only_the_tool_that_is_called_is_made() {
    let source = Lazy::new("a", &["add", "look", "say"]);
    let catalog = Catalog::default();
    catalog.replace(|_| true, vec![Arc::clone(&source) as _]);
    let listed: Vec<_> = catalog.sorted().into_iter().map(|tool| tool.entry()).collect();
    assert_eq!(listed.len(), 3);
    assert_eq!(source.made.load(Ordering::Relaxed), 0);

    assert!(catalog.get(&"look".parse().unwrap()).is_some());

    assert_eq!(source.made.load(Ordering::Relaxed), 1);
}

#[test]
fn two_built_in_tools_of_one_name_are_refused() {
    let twice = ["add", "add"].map(|name| Box::new(Says(name, Origin::Builtin)) as Box<dyn Tool>);

    assert_eq!(BuiltinTools::new(twice).err(), Some(CatalogError::NameTaken("add".parse().unwrap())));
}
