//! Where an external agent is, from its entry. `${VAR}` and `${secret:NAME}` are filled in here, so that one that is
//! missing fails this one agent and nothing else.

use http::{HeaderName, HeaderValue};
use openfang_a2a::client::{Protocol, RemoteAgent, RemoteSettings, Verification};
use openfang_runtime::external_call::GuardedAgent;
use openfang_types::config::{A2aProtocol, ExternalAgent, VerifyCard};

use super::ExternalReach;

/// The way to the agent of an entry, or why there is none.
pub(super) fn way_to(entry: &ExternalAgent, reach: &ExternalReach) -> Result<GuardedAgent, String> {
    let door = reach.http()?;
    let surroundings = reach.lending.to_agent(entry, door.guard()).map_err(text)?;
    let filled = |what: &str, template: &str| {
        let value = surroundings.fill_in(what, template).map_err(text)?;
        value.into_string().map_err(|_| format!("the {what} is not UTF-8"))
    };
    let mut headers = Vec::with_capacity(entry.headers.len());
    for (name, value) in &entry.headers {
        let what = format!("header {name}");
        let name = HeaderName::try_from(name.as_str()).map_err(|_| format!("the {what} has no valid name"))?;
        let value = filled(&what, value.expose())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| format!("the {what} has no valid value"))?;
        value.set_sensitive(true);
        headers.push((name, value));
    }
    let keys = match &entry.keys {
        Some(path) => {
            let read = std::fs::read_to_string(path);
            Some(read.map_err(|cause| format!("{} cannot be read: {cause}", path.display()))?)
        }
        None => None,
    };
    let endpoint = entry.endpoint.as_ref().map(|endpoint| filled("endpoint", endpoint)).transpose()?;
    let settings = RemoteSettings {
        endpoint,
        protocol: protocol(entry.protocol),
        headers,
        origins: entry.origins.clone(),
        timeout: entry.timeout(),
        idle: entry.idle(),
        total: entry.longest(),
        extensions: entry.extensions.clone(),
        verification: verification(entry.verify),
        keys,
        redactor: reach.redactor()?,
        ..RemoteSettings::operator(filled("url", &entry.url)?)
    };
    let remote = RemoteAgent::new(door, settings).map_err(text)?;
    Ok(GuardedAgent::new(entry.clone(), remote))
}

const fn protocol(configured: A2aProtocol) -> Protocol {
    match configured {
        A2aProtocol::Auto => Protocol::Auto,
        A2aProtocol::V10 => Protocol::V10,
        A2aProtocol::V03 | A2aProtocol::V02 => Protocol::V03,
        A2aProtocol::V01 => Protocol::V01,
        A2aProtocol::OpenFang => Protocol::OpenFang,
    }
}

const fn verification(configured: VerifyCard) -> Verification {
    match configured {
        VerifyCard::Off => Verification::Off,
        VerifyCard::IfSigned => Verification::IfSigned,
        VerifyCard::Required => Verification::Required,
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
