//! Limits of labels and their sources.

/// Distinct sources that a label names; of further ones only that there were many is known.
pub const LABEL_SOURCES: usize = 16;
/// The longest name of a source; a longer one is cut.
pub const LABEL_SOURCE_BYTES: usize = 256;
/// Sources that a message names; further ones are counted.
pub const LABEL_SOURCES_SHOWN: usize = 4;
