//! What a client declares that it can be asked for, and what of it a revision has a way to ask for.

pub use openfang_types::call::{Capability, ClientCapabilities};

use crate::revision::{Elicitation, Facts};

impl Facts {
    /// What a client of this revision can be asked for, whatever it declares.
    #[must_use]
    pub fn askable(&self, declared: ClientCapabilities) -> ClientCapabilities {
        let (forms, pages) = match self.elicitation {
            Elicitation::Absent => (false, false),
            Elicitation::Forms => (true, false),
            Elicitation::FormsAndPages => (true, true),
        };
        declared.filtered(|capability| match capability {
            Capability::ElicitationForm => forms,
            Capability::ElicitationUrl => pages,
            Capability::Sampling | Capability::Roots => true,
        })
    }
}

#[cfg(test)]
#[path = "capabilities_tests.rs"]
mod tests;
