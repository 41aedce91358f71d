//! Where to resume a stream. An SSE id alone is no cursor: some peers give one id to several events.

use openfang_types::event::Seq;
use openfang_types::ids::TaskName;

/// The value for `Last-Event-ID`, if the id of an event has the form `task:seq` of servers that can resume after it.
pub fn cursor<'a>(event_id: &'a str, task: &TaskName) -> Option<&'a str> {
    let (named, seq) = event_id.rsplit_once(':')?;
    let is_ours = named == task.as_str() && seq.parse::<Seq>().is_ok();
    is_ours.then_some(event_id)
}
