//! `completion/complete`.

use openfang_types::limits::MCP_COMPLETIONS;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::respond::{Kind, members};
use super::{Request, Server};
use crate::content::Completion;
use crate::error::McpError;
use crate::host::{Completing, CompletionOf, Host};

#[derive(Deserialize)]
struct Params {
    r#ref: Reference,
    argument: Argument,
    #[serde(default)]
    context: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Reference {
    r#type: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    uri: Option<String>,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[derive(Serialize)]
struct Completed {
    completion: Completion,
}

impl<H: Host> Server<H> {
    pub(super) async fn complete(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let wrong = || {
            McpError::InvalidParams("completion/complete takes a ref and an argument with name and value".to_owned())
        };
        let params = request.params().ok_or_else(wrong)?;
        let params: Params = serde_json::from_str(params.get()).map_err(|_| wrong())?;
        let of = match (params.r#ref.r#type.as_str(), &params.r#ref.name, &params.r#ref.uri) {
            ("ref/prompt", Some(name), _) => CompletionOf::Prompt(name),
            ("ref/resource", _, Some(uri)) => CompletionOf::Template(uri),
            _ => return Err(wrong()),
        };
        let asked = Completing {
            of,
            argument: &params.argument.name,
            value: &params.argument.value,
            context: params.context.as_deref(),
        };
        let mut completion = self.inner.host.complete(&request.caller, asked).await?;
        if completion.values.len() > MCP_COMPLETIONS {
            completion.total.get_or_insert(completion.values.len());
            completion.values.truncate(MCP_COMPLETIONS);
            completion.has_more = Some(true);
        }
        Ok(self
            .signature()
            .respond(&request.id, request.revision, &members(&Completed { completion }), Kind::Answer))
    }
}
