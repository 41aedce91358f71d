//! Settings that change while a server runs: by a signal, by a command, by a request and by a look at the files.

mod faults;
mod fixture;
mod flips;
mod servers;
mod taken_over;
mod waits;
