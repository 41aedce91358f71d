//! Facts about all built-in tools.
