//! `openfang chat`, on a real pseudo-terminal and without one, with a scripted provider and with a real small model.

mod approvals;
pub(crate) mod fixture;
mod lines;
mod real;
mod resume;
mod terminal;
