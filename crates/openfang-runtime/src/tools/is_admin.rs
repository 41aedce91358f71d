//! `is_admin`: whether the caller proved to be the operator.

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::principal::PrincipalKind;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolFuture, name};
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct IsAdmin;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

impl Tool for IsAdmin {
    fn definition(&self) -> ToolDefinition {
        let says = "Tells whether you are the administrator of this OpenFang.";
        ToolDefinition::of::<Args>(name("is_admin"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, _: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let is_admin = match cx.principal.standing() {
                PrincipalKind::Admin(_) => true,
                PrincipalKind::Local | PrincipalKind::User(_) => false,
            };
            Ok(Outcome::Done(ToolOutput::text(is_admin.to_string()).with_structured(&json!({ "admin": is_admin }))))
        })
    }
}
