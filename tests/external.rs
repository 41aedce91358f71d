//! External agents: A2A agents of other servers, used through this one as tools, as agents and behind its own endpoint.

mod calls;
mod changes;
mod crash;
mod fixture;
mod grants;
mod loops;
mod real_peers;
