//! Calls that may need something from the client: tools, prompts, resources.
//!
//! A modern client gets a result that says what is needed, with a sealed state, and comes again with both. The state
//! is the client's to keep and nobody's to change: it is bound to its owner, to the very same call, and to a time, and
//! it is good once. A legacy client is asked by requests of our own while its call waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_types::content::ToolOutput;
use openfang_types::limits::{MCP_INPUT_ROUNDS, MCP_STATE_TTL};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::respond::{Kind, members};
use super::used_states::{NONCE_BYTES, Use};
use super::{Reporter, Request, Server};
use crate::call_task::{CallTask, ShownQuestion};
use crate::content::{PromptResult, ResourceContents, shown_call};
use crate::counts::UnknownId;
use crate::error::McpError;
use crate::host::{Host, InputRequest, InputRequired, Outcome, Resumed, SealedFor, ToolAnswer};
use crate::meta::QUESTION_KEY;
use crate::revision::{Elicitation, Questions, Revision};

enum Target<'a> {
    Tool { name: &'a str, arguments: Option<&'a RawValue> },
    Prompt { name: &'a str, arguments: &'a BTreeMap<String, String> },
    Resource { uri: &'a str },
}

/// What came of it.
enum Done {
    Called(ToolOutput),
    Filled(PromptResult),
    Read(ResourceContents),
    Task(Box<CallTask>),
}

/// What a modern client brings back.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Brought {
    input_responses: Option<BTreeMap<String, Box<RawValue>>>,
    request_state: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Needed<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    input_requests: BTreeMap<&'a str, ShownQuestion<'a>>,
    request_state: String,
}

impl<H: Host> Server<H> {
    pub(super) async fn tools_call(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let wrong = || McpError::InvalidParams("tools/call takes a name and an object of arguments".to_owned());
        let name = request.named.name.as_deref().ok_or_else(wrong)?;
        let arguments = request.named.arguments.as_deref();
        if arguments.is_some_and(|raw| !raw.get().starts_with('{')) {
            return Err(wrong());
        }
        self.settle(request, Target::Tool { name, arguments }).await
    }

    pub(super) async fn prompts_get(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let wrong = || McpError::InvalidParams("prompts/get takes a name and arguments that are strings".to_owned());
        let name = request.named.name.as_deref().ok_or_else(wrong)?;
        let arguments: BTreeMap<String, String> = match &request.named.arguments {
            Some(raw) => serde_json::from_str(raw.get()).map_err(|_| wrong())?,
            None => BTreeMap::new(),
        };
        self.settle(request, Target::Prompt { name, arguments: &arguments }).await
    }

    pub(super) async fn resources_read(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let wrong = || McpError::InvalidParams("resources/read takes a uri".to_owned());
        let uri = request.named.uri.as_deref().ok_or_else(wrong)?;
        self.settle(request, Target::Resource { uri }).await
    }

    /// Carries the call out, asking the client for what it takes.
    async fn settle(&self, request: &Request<H::Caller>, target: Target<'_>) -> Result<Vec<u8>, McpError> {
        let reporter = Arc::new(Reporter::of(request));
        match request.revision.facts().questions {
            Questions::InResult => {
                let resumed = self.brought_back(request, &target)?;
                match self.once(request, &reporter, &target, resumed.as_ref()).await? {
                    Outcome::Done(done) => Ok(self.done(request, &done)),
                    Outcome::NeedsInput(needed) => self.ask_in_result(request, &target, &needed),
                }
            }
            Questions::ByRequest => {
                let mut resumed = None;
                for _ in 0..MCP_INPUT_ROUNDS {
                    match self.once(request, &reporter, &target, resumed.as_ref()).await? {
                        Outcome::Done(done) => return Ok(self.done(request, &done)),
                        // Boxed: few calls ask, and all would be as large as the asking.
                        Outcome::NeedsInput(needed) => {
                            resumed = Some(Box::pin(self.ask_by_request(request, needed)).await?);
                        }
                    }
                }
                Err(McpError::NoAnswer(format!("it was asked {MCP_INPUT_ROUNDS} times")))
            }
        }
    }

    /// Asks a legacy client, all at the same time, while its own request waits.
    pub(super) async fn ask_by_request(
        &self,
        request: &Request<H::Caller>,
        needed: InputRequired,
    ) -> Result<Resumed, McpError> {
        let credential = &self.inner.host.credential(&request.caller);
        let asked = needed.requests.into_iter().map(|(key, question)| async move {
            let session = request.session.as_ref().filter(|_| request.client.has(question.needs));
            let session = session.ok_or(McpError::MissingCapability(question.needs))?;
            let params = in_revision(&key, &question, request.revision);
            let answer = session.ask(credential.clone(), &*request.outlet, question.method, &params).await?;
            Ok::<_, McpError>((key, answer))
        });
        let answers = futures_util::future::try_join_all(asked).await?.into_iter().collect();
        Ok(Resumed { answers, state: needed.state })
    }

    async fn once(
        &self,
        request: &Request<H::Caller>,
        reporter: &Arc<Reporter>,
        target: &Target<'_>,
        resumed: Option<&Resumed>,
    ) -> Result<Outcome<Done>, McpError> {
        let (host, call) = (&self.inner.host, request.call(reporter, resumed));
        Ok(match target {
            Target::Tool { name, arguments } => match host.call_tool(call, name, *arguments).await? {
                ToolAnswer::Ended(outcome) => outcome.map(Done::Called),
                ToolAnswer::Task(task) => Outcome::Done(Done::Task(task)),
            },
            Target::Prompt { name, arguments } => host.prompt(call, name, arguments).await?.map(Done::Filled),
            Target::Resource { uri } => host.read(call, uri).await?.map(Done::Read),
        })
    }

    fn done(&self, request: &Request<H::Caller>, done: &Done) -> Vec<u8> {
        let facts = request.revision.facts();
        let (id, revision, signature) = (&request.id, request.revision, self.signature());
        match done {
            Done::Called(result) => {
                let meta = result.beside.meta.as_deref();
                signature.respond_with((id, revision), &shown_call(result, facts), meta, Kind::Answer)
            }
            Done::Filled(result) => {
                let meta = result.beside.meta.as_deref();
                signature.respond_with((id, revision), &result.shown_in(facts), meta, Kind::Answer)
            }
            Done::Read(result) => {
                signature.respond_with((id, revision), result, result.beside.meta.as_deref(), Kind::Kept)
            }
            Done::Task(task) => self.begun_task(request, task),
        }
    }

    fn ask_in_result(
        &self,
        request: &Request<H::Caller>,
        target: &Target<'_>,
        needed: &InputRequired,
    ) -> Result<Vec<u8>, McpError> {
        for question in needed.requests.values() {
            if !request.client.has(question.needs) {
                return Err(McpError::MissingCapability(question.needs));
            }
        }
        let shown = Needed {
            input_requests: ShownQuestion::all(&needed.requests),
            request_state: self.sealed(request, target, &needed.state)?,
        };
        let (members, signature) = (members(&shown), self.signature());
        Ok(signature.respond(&request.id, request.revision, &members, Kind::InputRequired))
    }

    fn sealed(&self, request: &Request<H::Caller>, target: &Target<'_>, state: &[u8]) -> Result<String, McpError> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| McpError::Internal)?;
        let mut payload = (self.now() + MCP_STATE_TTL.as_secs().cast_signed()).to_be_bytes().to_vec();
        payload.extend_from_slice(&nonce);
        payload.extend_from_slice(&target.digest(&self.inner.host.scope(&request.caller)));
        payload.extend_from_slice(state);
        let owner = self.inner.host.owner(&request.caller);
        Ok(self.inner.seal.seal(SealedFor::RequestState, &owner, &payload))
    }

    /// What a modern client brings back, if the state is one that we gave it for this very call, not long ago and not
    /// used before.
    fn brought_back(&self, request: &Request<H::Caller>, target: &Target<'_>) -> Result<Option<Resumed>, McpError> {
        if !request.named.has_input {
            return Ok(None);
        }
        let wrong = || McpError::InvalidParams("inputResponses must be an object, requestState a string".to_owned());
        let params = request.params().ok_or_else(wrong)?;
        let brought: Brought = serde_json::from_str(params.get()).map_err(|_| wrong())?;
        let answers = brought.input_responses.unwrap_or_default();
        let Some(token) = brought.request_state else {
            return Ok((!answers.is_empty()).then_some(Resumed { answers, state: Vec::new() }));
        };
        let owner = self.inner.host.owner(&request.caller);
        let digest = target.digest(&self.inner.host.scope(&request.caller));
        let opened = self.opened(&owner, &digest, &token);
        let used = opened.as_ref().map(|opened| {
            let states = &self.inner.shared.used_states;
            states.use_up(&owner, opened.nonce, opened.expiry, self.now())
        });
        match (opened, used) {
            (Some(opened), Some(Use::First)) => Ok(Some(Resumed { answers, state: opened.state })),
            (_, Some(Use::NoRoom)) => {
                let why = "this user has used too many request states; try again when the oldest of them have expired";
                Err(McpError::Busy(why.to_owned()))
            }
            (_, Some(Use::First | Use::Again) | None) => {
                self.inner.shared.counts.add(UnknownId::State);
                tracing::debug!(method = %request.method, "a request state was refused");
                Err(McpError::InvalidParams("the requestState is not valid: call again without it".to_owned()))
            }
        }
    }

    fn opened(&self, owner: &str, of: &[u8; DIGEST_BYTES], token: &str) -> Option<OpenedState> {
        let payload = self.inner.seal.open(SealedFor::RequestState, owner, token)?;
        let (expiry, rest) = payload.split_first_chunk::<8>()?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_BYTES>()?;
        let (digest, state) = rest.split_first_chunk::<DIGEST_BYTES>()?;
        let expiry = i64::from_be_bytes(*expiry);
        let is_good = expiry >= self.now() && digest == of;
        is_good.then(|| OpenedState { nonce: *nonce, expiry, state: state.to_vec() })
    }
}

/// A question as a revision has it. Before 2025-11-25 a form was the only way to ask, and had no name. What a question is
/// called the legacy era has no place for; a gateway with a modern client finds it in `_meta`.
fn in_revision(key: &str, question: &InputRequest, revision: Revision) -> Box<RawValue> {
    let Ok(mut params) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(question.params.get()) else {
        return question.params.clone();
    };
    if revision < Revision::V2025_11_25 {
        params.remove("mode");
    }
    if revision.facts().elicitation != Elicitation::Absent {
        let meta = params.remove("_meta");
        let mut meta: BTreeMap<String, Box<RawValue>> =
            meta.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        meta.insert(QUESTION_KEY.to_owned(), crate::content::raw(&key));
        params.insert("_meta".to_owned(), crate::content::raw(&meta));
    }
    crate::content::raw(&params)
}

/// What a request state says.
struct OpenedState {
    nonce: [u8; NONCE_BYTES],
    expiry: i64,
    state: Vec<u8>,
}

const DIGEST_BYTES: usize = 32;

impl Target<'_> {
    /// The same call in the same scope has the same digest, however its client writes it.
    fn digest(&self, scope: &str) -> [u8; DIGEST_BYTES] {
        let (kind, name, arguments) = match self {
            Self::Tool { name, arguments } => {
                let arguments = arguments.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
                ("tool", *name, arguments.map(|value| value.to_string()).filter(|text| text != "{}"))
            }
            Self::Prompt { name, arguments } => ("prompt", *name, serde_json::to_string(arguments).ok()),
            Self::Resource { uri } => ("resource", *uri, None),
        };
        let mut digest = Sha256::new();
        for part in [kind, name, &arguments.unwrap_or_default(), scope] {
            digest.update(part.len().to_be_bytes());
            digest.update(part.as_bytes());
        }
        digest.finalize().into()
    }
}
