//! Room for large answers. What a caller reads of a large task takes memory until its answer was written, so the room
//! is reserved before the task is read: whoever serves the caller counts it, and says whether there is any.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_types::limits::ANSWER_COPIES;

use crate::{Caller, KernelError};

/// The memory that the answer to one request takes, counted by whoever serves the request.
pub trait AnswerRoom: std::fmt::Debug + Send + Sync {
    /// Takes so many bytes, and waits a while for them where there are too few. No: there were none in time.
    fn take(&self, bytes: usize) -> BoxFuture<'_, bool>;
    /// Gives so many of them back before the answer was written.
    fn give_back(&self, bytes: usize);
}

/// Room that was taken; given back when it is dropped.
pub(crate) struct Reserved {
    room: Option<Arc<dyn AnswerRoom>>,
    bytes: usize,
}

impl Reserved {
    /// From now on it is the answer's: it is given back when that was written.
    pub(crate) fn keep(mut self) {
        self.room = None;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(room) = &self.room {
            room.give_back(self.bytes);
        }
    }
}

impl Caller {
    /// Room for what is stored in so many bytes: as it is read, parsed and rendered. Somebody who is served by no server
    /// has all the room there is.
    pub(crate) async fn reserve(&self, stored: usize) -> Result<Reserved, KernelError> {
        let bytes = stored.saturating_mul(ANSWER_COPIES);
        if let Some(room) = &self.room
            && !room.take(bytes).await
        {
            return Err(KernelError::TooMuch);
        }
        Ok(Reserved { room: self.room.clone(), bytes })
    }
}
