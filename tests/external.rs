//! External agents: A2A agents of other servers, used through this one as tools, as agents and behind its own endpoint.

mod calls;
mod chains;
mod changes;
mod conversations;
mod crash;
mod credentials;
mod fixture;
mod grants;
mod long_calls;
mod loops;
mod misbehaving;
mod phases;
mod pushes;
mod real_peers;
mod sign_ins;
mod skills;
mod traces;
mod two_houses;
mod two_servers;
mod words;
