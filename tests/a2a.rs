//! The A2A server: every dialect over one endpoint, tasks that survive, and callers that mean harm.

mod agents;
mod calls;
mod catalogue;
mod crash;
mod hostile;
mod isolation;
mod leaving;
mod letting_go;
mod lifecycle;
mod limits;
mod official_types;
mod parameters;
mod races;
mod real_clients;
mod refusals;
mod routes;
mod schemas;
mod seeds;
mod streams;
mod versions;
pub(crate) mod wire;
