//! A2A, as clients see it.

mod real_clients;
