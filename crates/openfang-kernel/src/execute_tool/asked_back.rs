//! Questions of a call for a caller that answers with another request. What the callee wants back is sealed meanwhile: it is
//! good for this owner, for the very same call, and for a while.

use std::collections::BTreeMap;

use openfang_types::call::{AskedBack, InputRequired, Question, Resumed};
use openfang_types::ids::ToolName;
use openfang_types::limits::MCP_STATE_TTL;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::DirectCalls;
use crate::Caller;
use crate::access::keys::Purpose;

const DIGEST_BYTES: usize = 32;

impl DirectCalls {
    /// The questions of a call of this tool with these arguments.
    pub(crate) fn ask_back(&self, caller: &Caller, call: (&ToolName, &Value), needed: InputRequired) -> AskedBack {
        let expiry = self.clock.now().as_second() + MCP_STATE_TTL.as_secs().cast_signed();
        let mut payload = expiry.to_be_bytes().to_vec();
        payload.extend_from_slice(&digest(call));
        payload.extend_from_slice(&needed.state);
        let state = self.access.keys().seal(Purpose::CallState, caller.principal.owner(), &payload);
        let question = |(key, request): (String, openfang_types::call::InputRequest)| {
            (key, Question { method: request.method.to_owned(), params: request.params })
        };
        AskedBack { questions: needed.requests.into_iter().map(question).collect(), state }
    }

    /// The answers that came with a state; none where the state is not one that was given for this call.
    pub(crate) fn answered_back(
        &self,
        caller: &Caller,
        call: (&ToolName, &Value),
        (answers, state): (BTreeMap<String, Box<RawValue>>, &str),
    ) -> Option<Resumed> {
        let payload = self.access.keys().open_token(Purpose::CallState, caller.principal.owner(), state)?;
        let (expiry, rest) = payload.split_first_chunk::<8>()?;
        let (known, state) = rest.split_first_chunk::<DIGEST_BYTES>()?;
        let is_good = i64::from_be_bytes(*expiry) >= self.clock.now().as_second() && *known == digest(call);
        is_good.then(|| Resumed { answers, state: state.to_vec() })
    }
}

/// The same call has the same digest.
fn digest((name, arguments): (&ToolName, &Value)) -> [u8; DIGEST_BYTES] {
    let mut digest = Sha256::new();
    for part in [name.as_str(), &arguments.to_string()] {
        digest.update(part.len().to_be_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().into()
}
