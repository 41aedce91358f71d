//! End to end: what users see, one behaviour per file. Kernels and servers run in this process; `cli`, `start` and
//! `drain` run the real binary.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod a2a;
mod access;
mod agents;
mod approvals;
mod audit;
mod chat;
mod children;
mod cli;
mod conformance;
mod connections;
mod crash;
mod disk;
mod drain;
mod external;
mod files;
mod first_hour;
mod gateway;
mod home;
mod http;
mod inflight;
mod lists;
mod loop_guard;
mod mcp;
mod mcp_servers;
mod model_agents;
mod model_setup;
mod models;
mod openapi;
mod pipeline;
mod processes;
mod push;
mod quota;
mod real_clients;
mod reload;
mod results;
mod scripts;
mod secrets;
mod skills;
mod start;
mod streams;
mod taint;
mod tasks;
mod tools;
mod unread;
mod unread_answers;
mod users;

mod support;
