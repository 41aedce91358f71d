//! What protected the home before, and what of it was given up.

use openfang_store::{ChangeAction, ChangeTarget};

use super::Kernel;
use crate::change::Change;
use crate::settings::home::{Acceptance, HomeLoss, RecordError};
use crate::{Caller, KernelError};

impl Kernel {
    /// Writes down that the operator gave up what the home had lost.
    pub async fn record_acceptance(&self, caller: &Caller, accepted: &[Acceptance]) -> Result<(), KernelError> {
        for Acceptance { part, .. } in accepted {
            let change = Change { caller, action: ChangeAction::Accept, target: ChangeTarget::Home { part: *part } };
            self.parts.changes.make(change, Ok(()), async { Ok(()) }).await?;
        }
        Ok(())
    }

    /// Refuses a start that would let everybody in although the home was protected, and remembers what protects it now.
    /// To be asked before anything listens. Blocks.
    pub fn keep_protection(&self) -> Result<(), RecordError> {
        let Some(memory) = &self.parts.memory else { return Ok(()) };
        let (has_users, has_api_key) = (self.parts.access.has_users(), self.config().api_key.is_some());
        let lost: Option<HomeLoss> = memory.record().lost_protection(has_users, has_api_key);
        if let Some(loss) = lost {
            return Err(loss.into());
        }
        if has_users || has_api_key {
            memory.update(|record| (record.has_users, record.has_api_key) = (has_users, has_api_key))?;
        }
        Ok(())
    }
}
