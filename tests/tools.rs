//! Built-in tools end to end: called through every interface, allowed and refused, and fed with hostile input.

mod doors;
mod events;
mod images;
mod queue;
mod schedules;
mod search;
mod shell;
mod web;
