//! The table against the layers.
