//! Commands and the rules about them: how a command is split into words, what a rule covers, and which programs run other
//! programs. Pure functions: nothing here looks at files.

pub use pattern::{CommandPattern, PatternFault, ProgramPattern};
pub use runners::{runs_programs, runs_programs_by_option};
pub use words::{WordsFault, shell_operator, split};

mod pattern;
mod runners;
mod words;
