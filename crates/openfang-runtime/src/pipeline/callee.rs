//! What can be called: a tool, or something of a server that is no tool. Nothing of it runs without a [`Permit`].

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{Origin, ToolTraits};

use super::{CallOutput, Permit};
use crate::catalog::Registered;
use crate::context::CallContext;
use crate::tools::{Review, ToolFailure};

/// How much of a call is ours to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Arguments must fit the schema, and a result is cut to what a model can take.
    Checked,
    /// Arguments and result are between the caller and the server. Only what would be too large is left out.
    HandedThrough,
}

/// Something that can be called.
pub trait Callee: Send + Sync {
    /// What a call of it gives.
    type Output: CallOutput;

    /// What the guards need to know of it.
    fn traits(&self) -> &ToolTraits;

    /// What this call does with its arguments.
    fn sink(&self, _: &Arguments<'_>) -> SinkKind {
        self.traits().sink
    }

    /// The URL that this call asks, where it fetches.
    fn target<'v>(&self, _: &'v Arguments<'_>) -> Option<&'v str> {
        None
    }

    /// What the callee itself says about a call before it is made.
    fn review<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a Arguments<'_>,
    ) -> Option<BoxFuture<'a, Result<Review, ToolFailure>>> {
        None
    }

    /// The tool whose schema arguments must fit, where there is one.
    fn checked_tool(&self) -> Option<&Arc<Registered>> {
        None
    }

    /// Calls it. Every await may be the last.
    fn call<'a>(
        &'a self,
        cx: &'a CallContext,
        arguments: Arguments<'a>,
        permit: Permit,
    ) -> BoxFuture<'a, Result<Outcome<Self::Output>, ToolFailure>>;
}

impl Callee for Arc<Registered> {
    type Output = ToolOutput;

    fn traits(&self) -> &ToolTraits {
        &self.traits
    }

    fn sink(&self, arguments: &Arguments<'_>) -> SinkKind {
        let usual = self.traits.sink;
        match self.traits.origin {
            Origin::Builtin => arguments.value().map_or(usual, |value| self.tool.sink(value, usual)),
            // Relayed arguments are not looked into.
            Origin::McpServer(_) | Origin::A2aAgent(_) | Origin::Skill(_) => usual,
        }
    }

    fn target<'v>(&self, arguments: &'v Arguments<'_>) -> Option<&'v str> {
        match self.traits.origin {
            Origin::Builtin => arguments.value().ok().and_then(|value| self.tool.target(value)),
            // What a server does with an argument is not known.
            Origin::McpServer(_) | Origin::A2aAgent(_) | Origin::Skill(_) => None,
        }
    }

    fn review<'a>(
        &'a self,
        cx: &'a CallContext,
        arguments: &'a Arguments<'_>,
    ) -> Option<BoxFuture<'a, Result<Review, ToolFailure>>> {
        match self.traits.origin {
            Origin::Builtin => arguments.value().ok().and_then(|value| self.tool.review(cx, value)),
            Origin::McpServer(_) | Origin::A2aAgent(_) | Origin::Skill(_) => None,
        }
    }

    fn checked_tool(&self) -> Option<&Arc<Registered>> {
        Some(self)
    }

    fn call<'a>(
        &'a self,
        cx: &'a CallContext,
        arguments: Arguments<'a>,
        permit: Permit,
    ) -> BoxFuture<'a, Result<Outcome<ToolOutput>, ToolFailure>> {
        self.tool.call(cx, arguments, permit)
    }
}
