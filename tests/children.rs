//! Child processes behind the real binary: how they start and end, what they are told, and what they cannot do. A folder
//! file for each kind of fact.

mod endings;
pub(crate) mod fixture;
mod limits;
mod portable;
mod programs;
mod sandbox;
mod secrets;
mod streams;
mod survival;
