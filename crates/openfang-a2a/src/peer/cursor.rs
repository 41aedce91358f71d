//! Where to resume a stream. An SSE id alone is not a cursor: some peers give several events the same id.

use openfang_types::event::Seq;
use openfang_types::ids::TaskName;

/// The value for `Last-Event-ID`. Only ids of the form `task:seq` qualify, which servers with resumable streams use.
pub fn cursor<'a>(event_id: &'a str, task: &TaskName) -> Option<&'a str> {
    let (named, seq) = event_id.rsplit_once(':')?;
    let is_ours = named == task.as_str() && seq.parse::<Seq>().is_ok();
    is_ours.then_some(event_id)
}
