//! The real binary.
