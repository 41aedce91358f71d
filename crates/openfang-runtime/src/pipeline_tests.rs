//! The stages together.
