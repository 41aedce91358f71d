//! Agents with a model, end to end: a scripted provider on its own socket, real tools, a real store.

mod basics;
mod calls;
mod compaction;
mod conversations;
mod crash;
pub(crate) mod fixture;
mod ledger;
mod many_tools;
mod real;
mod refusals;
mod spending;
mod steering;
