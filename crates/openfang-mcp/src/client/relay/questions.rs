//! Questions of servers, as they are put to clients: from the middle of a call, or in a result.

use std::collections::{BTreeMap, HashSet};

use openfang_types::jsonrpc::{ErrorObject, Id, code};
use openfang_types::limits::PEER_ID_MAX_BYTES;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::{ClientError, Question};
use super::state::State;
use crate::capabilities::Capability;
use crate::content::raw;
use crate::host::{InputRequest, InputRequired, Outcome};
use crate::meta::QUESTION_KEY;
use crate::revision::Questions;

/// What a modern server answered: a result, or questions.
pub(super) fn modern_outcome(result: Box<RawValue>) -> Result<Outcome<Box<RawValue>>, ClientError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kind {
        #[serde(default)]
        result_type: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answered {
        #[serde(default)]
        input_requests: BTreeMap<String, Asking>,
        #[serde(default)]
        request_state: Option<String>,
    }
    #[derive(Deserialize)]
    struct Asking {
        method: String,
        #[serde(default)]
        params: Option<Box<RawValue>>,
    }
    // Most results are plain, and the word says so without another look; JSON can write it in other ways only with escapes.
    let may_ask = result.get().contains("input_required") || result.get().contains("\\u");
    let kind = || serde_json::from_str::<Kind>(result.get()).ok()?.result_type;
    if !may_ask || kind().as_deref() != Some("input_required") {
        return Ok(Outcome::Done(result));
    }
    let wrong = |why: &str| ClientError::NotMcp(why.to_owned());
    let answered: Answered = serde_json::from_str(result.get()).map_err(|_| wrong("its questions make no sense"))?;
    let mut requests = BTreeMap::new();
    for (key, Asking { method, params }) in answered.input_requests {
        let question = Question { id: Id::Null, method, params };
        requests.insert(key, put(&question).ok_or_else(|| wrong("it asked something that makes no sense"))?);
    }
    Ok(Outcome::NeedsInput(InputRequired { requests, state: State::Theirs(answered.request_state).bytes() }))
}

/// The answer to a call of nobody who can be asked: a question is none.
pub(super) fn plain_answer(result: Box<RawValue>, questions: Questions) -> Result<Box<RawValue>, ClientError> {
    if questions == Questions::ByRequest {
        return Ok(result);
    }
    match modern_outcome(result)? {
        Outcome::Done(result) => Ok(result),
        Outcome::NeedsInput(_) => {
            let why = "it asks for input, and nobody can be asked here";
            Err(ClientError::Refused(ErrorObject::new(code::INVALID_PARAMS, why)))
        }
    }
}

/// Questions by what they are called: as their server called them, where it did and no two are the same.
pub(super) fn keyed(questions: Vec<Question>) -> Vec<(String, Question)> {
    let mut keys = HashSet::new();
    let called = |mut question: Question| (key_of(&mut question).filter(|key| keys.insert(key.clone())), question);
    let called: Vec<(Option<String>, Question)> = questions.into_iter().map(called).collect();
    // A server may use words like ours.
    let mut ours = (1..).map(|number: usize| format!("question-{number}")).filter(|key| !keys.contains(key));
    called
        .into_iter()
        .map(|(key, question)| (key.or_else(|| ours.next()).unwrap_or_default(), question))
        .collect()
}

/// Takes what a question is called out of its `_meta`.
fn key_of(question: &mut Question) -> Option<String> {
    let mut params: BTreeMap<String, Box<RawValue>> = serde_json::from_str(question.params.as_ref()?.get()).ok()?;
    let mut meta: BTreeMap<String, Box<RawValue>> = serde_json::from_str(params.remove("_meta")?.get()).ok()?;
    let key: String = serde_json::from_str(meta.remove(QUESTION_KEY)?.get()).ok()?;
    if !meta.is_empty() {
        params.insert("_meta".to_owned(), raw(&meta));
    }
    question.params = Some(raw(&params));
    Some(key).filter(|key| !key.is_empty() && key.len() <= PEER_ID_MAX_BYTES)
}

/// A server's question, as it is put to a client.
pub(super) fn put(question: &Question) -> Option<InputRequest> {
    #[derive(Deserialize, Default)]
    struct Mode {
        #[serde(default)]
        mode: Option<String>,
    }
    let empty = || RawValue::from_string("{}".to_owned()).ok();
    let params = question.params.clone().or_else(empty)?;
    let (needs, method) = match question.method.as_str() {
        "elicitation/create" => {
            let mode: Mode = serde_json::from_str(params.get()).unwrap_or_default();
            let is_url = mode.mode.as_deref() == Some("url");
            (if is_url { Capability::ElicitationUrl } else { Capability::ElicitationForm }, "elicitation/create")
        }
        "sampling/createMessage" => (Capability::Sampling, "sampling/createMessage"),
        "roots/list" => (Capability::Roots, "roots/list"),
        _ => return None,
    };
    Some(InputRequest { needs, method, params })
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
