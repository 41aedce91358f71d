//! The writes of a task's log: each holds the events, the entries of the transcript and the remote side that wait, and is
//! found out about if nobody waited for it.

use openfang_store::{Append, Created, NewTask, RemoteRecord, Stamp, StoreError, TranscriptItem, TranscriptWrite};
use openfang_types::event::EventBody;

use super::{Closed, Log, TaskLog, TaskStage, UncertainWrite};

impl TaskLog {
    /// Stores everything that waits, in one commit.
    pub(in crate::tasks) async fn flush(&self, log: &mut Log) -> Result<(), Closed> {
        self.find_out(log).await?;
        let events = std::mem::take(&mut log.waiting);
        let items = log.transcript.as_mut().map(|open| open.take()).unwrap_or_default();
        let has_nothing = events.is_empty() && items.is_empty() && !log.is_remote_unsaved;
        if has_nothing && matches!(log.place, TaskStage::Stored(_)) {
            return Ok(());
        }
        let remote = log.unsaved_remote();
        let number = items.len();
        // Dropped at the await below, the write may or may not happen; the next flush finds out.
        let has_remote = remote.is_some();
        log.uncertain = Some(UncertainWrite { events: events.clone(), items: items.clone(), has_remote });
        log.is_remote_unsaved = false;
        let written = self.write(log, events, (items, remote)).await;
        let uncertain = log.uncertain.take();
        match (&written, uncertain) {
            // Nothing was written; it may be possible later.
            (Err(Closed::Refused(StoreError::Unavailable { .. })), Some(uncertain)) => log.put_back(uncertain),
            (Ok(Created::New(_)), _) => log.transcript.iter_mut().for_each(|open| open.wrote(number)),
            (Ok(Created::Known(_)) | Err(_), _) => {}
        }
        settle(log, written?)
    }

    async fn write(
        &self,
        log: &mut Log,
        events: Vec<EventBody>,
        (items, remote): (Vec<TranscriptItem>, Option<RemoteRecord>),
    ) -> Result<Created, Closed> {
        let transcript = log.transcript.as_ref().map(|open| open.write(items)).unwrap_or_default();
        let again = transcript
            .after
            .is_some()
            .then(|| (events.clone(), transcript.items.clone(), remote.clone()));
        let written = self.write_once(log, events, (transcript, remote)).await;
        match (written, again) {
            (Err(StoreError::Conflict), Some((events, items, remote))) if self.is_overtaken(log).await => {
                // The run ends; what it did stays in the transcript, behind what the other process wrote.
                log.transcript.iter_mut().for_each(|open| open.is_overtaken = true);
                let transcript = TranscriptWrite::at_the_end(items);
                self.write_once(log, events, (transcript, remote)).await.map_err(Closed::Refused)
            }
            (written, _) => written.map_err(Closed::Refused),
        }
    }

    async fn write_once(
        &self,
        log: &Log,
        events: Vec<EventBody>,
        (transcript, remote): (TranscriptWrite, Option<RemoteRecord>),
    ) -> Result<Created, StoreError> {
        let tasks = &self.inner.store;
        match &log.place {
            TaskStage::Superseded(other) => Ok(Created::Known(*other)),
            TaskStage::HandedOver => Err(StoreError::Conflict),
            TaskStage::Here(new) => {
                let (labels, door) = (log.labels.clone(), log.heard_at.unwrap_or(new.door));
                tasks
                    .create(NewTask { events, labels, door, remote, transcript, ..(**new).clone() })
                    .await
            }
            TaskStage::Stored(stamp) => {
                let write = Append {
                    owner: self.owner.clone(),
                    id: self.id,
                    version: stamp.version,
                    events,
                    labels: log.labels.clone(),
                    remote,
                    transcript,
                    node: None,
                    door: log.heard_at,
                    at: self.inner.clock.now(),
                };
                tasks.append(write).await.map(Created::New)
            }
        }
    }

    /// Whether a write was refused because another process wrote to the conversation, and not to the task.
    async fn is_overtaken(&self, log: &Log) -> bool {
        match (&log.place, self.inner.store.head(&self.owner, self.id).await) {
            (TaskStage::Here(_), Err(StoreError::NotFound)) => true,
            (TaskStage::Stored(stamp), Ok(record)) => record.version == stamp.version,
            (
                TaskStage::Here(_) | TaskStage::Stored(_) | TaskStage::HandedOver | TaskStage::Superseded(_),
                Ok(_) | Err(_),
            ) => false,
        }
    }

    /// Whether a write that nobody waited for happened. Everything queued before the probe is settled after it.
    async fn find_out(&self, log: &mut Log) -> Result<(), Closed> {
        let Some(uncertain) = log.uncertain.take() else { return Ok(()) };
        self.inner.health.probe().await.map_err(Closed::Refused)?;
        let known = match &log.place {
            TaskStage::Stored(stamp) => stamp.version,
            TaskStage::Here(_) | TaskStage::HandedOver | TaskStage::Superseded(_) => 0,
        };
        match self.inner.store.head(&self.owner, self.id).await {
            Ok(record) if record.version > known => {
                log.place = TaskStage::Stored(Stamp { version: record.version, seq: record.seq });
                log.transcript.iter_mut().for_each(|open| open.wrote(uncertain.items.len()));
            }
            Ok(_) | Err(StoreError::NotFound) => log.put_back(uncertain),
            Err(error) => return Err(Closed::Refused(error)),
        }
        Ok(())
    }
}

/// Remembers where a write has put the task.
pub(super) fn settle(log: &mut Log, written: Created) -> Result<(), Closed> {
    match written {
        Created::New(stamp) => {
            log.place = TaskStage::Stored(stamp);
            Ok(())
        }
        Created::Known(other) => {
            log.place = TaskStage::Superseded(other);
            Err(Closed::Superseded(other))
        }
    }
}
