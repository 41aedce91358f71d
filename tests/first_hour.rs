//! The first hour of a new user, with the real binary: setting up, connecting programs, finding out what is wrong, and what
//! one reads at the terminal.

mod background;
mod connect;
mod demo;
mod doctor;
mod fixture;
mod hour;
mod operator;
mod readme;
mod remote;
mod secrets;
mod server;
mod small_things;
mod terminal;
