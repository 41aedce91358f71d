//! The server under attack: default limits, a few honest users, one hostile user, and hostile MCP servers.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::attacks::{ATTACKS, Attack};
use super::client::{Client, HONEST, Request};
use super::hostile_server::{ASKING, HOSTILE_SERVERS};
use super::tally::Tallies;
use crate::child::{Home, Server};
use crate::scenarios::API_KEY;

/// The honest users. Each has a key, and a password for logins.
pub(super) const HONEST_USERS: [&str; 3] = ["ada", "bob", "cyd"];
/// The password of every honest user.
pub(super) const PASSWORD: &str = "correct horse battery";
/// Each attack has a user of its own, and another one for the phase of all attacks: together they must not be held back by
/// the share of one, or by what was used up before.
const HOSTILE_USER: &str = "mallory";
/// The grants of the hostile user: enough to do harm.
const HOSTILE_GRANTS: [&str; 7] =
    ["agent:starter/*", "agent:clerk/*", "server:schemas", "server:noise", "server:late", "server:asking", "get_*"];
const HONEST_GRANTS: [&str; 3] = ["agent:starter/*", "add_*", "get_*"];

/// The server and the keys of its users.
pub(super) struct Stage {
    home: Home,
    pub(super) server: Server,
    pub(super) honest_keys: Vec<String>,
    hostile_keys: Vec<String>,
}

/// The target of an attack.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: String,
    /// The key of the attack's user.
    pub(super) key: String,
    /// The counters of the attack.
    pub(super) tallies: Tallies,
}

/// The state of the server after everything, and how it stopped.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) audit: String,
    pub(super) is_audit_sound: bool,
    pub(super) stop: Duration,
}

impl Stage {
    /// Starts the server and creates its users.
    pub(super) async fn set(openfang: &Path) -> Result<Self> {
        // A home with an agent gets no starter agent.
        let home = Home::with_config(openfang, &config()?)?
            .with_direct_agent_for_text("starter", &["get_*", "add_*"], Some("get_greeting"))?
            .with_direct_agent("clerk", &["file_*", "memory_*"])?;
        let (server, _) = home.start().await?;
        let mut admin = Client::new(&server.address, HONEST);
        let mut honest_keys = Vec::new();
        for user in HONEST_USERS {
            honest_keys.push(add_user(&mut admin, user, &HONEST_GRANTS, Some(PASSWORD)).await?);
        }
        let mut hostile_keys = Vec::new();
        for number in 0..2 * ATTACKS.len() {
            let user = format!("{HOSTILE_USER}-{number}");
            hostile_keys.push(add_user(&mut admin, &user, &HOSTILE_GRANTS, None).await?);
        }
        Ok(Self { home, server, honest_keys, hostile_keys })
    }

    /// The targets of these attacks, which count together.
    pub(super) fn targets(&self, attacks: &[&'static Attack], tallies: &Tallies) -> Vec<Target> {
        let first = if attacks.len() > 1 { ATTACKS.len() } else { 0 };
        let place =
            |attack: &Attack| ATTACKS.iter().position(|known| known.name == attack.name).map(|place| first + place);
        let key =
            |attack: &Attack| place(attack).and_then(|place| self.hostile_keys.get(place).cloned()).unwrap_or_default();
        let target = |attack: &&'static Attack| Target {
            address: self.server.address.clone(),
            key: key(attack),
            tallies: tallies.clone(),
        };
        attacks.iter().map(target).collect()
    }

    /// Verifies the audit log, then stops the server and measures how long that took.
    pub(super) async fn end(self) -> Result<Ending> {
        let (is_audit_sound, audit) = self.home.command(&["audit", "verify"])?;
        let stop = self.home.stop(self.server).await?;
        Ok(Ending { audit, is_audit_sound, stop })
    }
}

fn config() -> Result<String> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("the path of this program is not text")?;
    let server = |name: &str| {
        let is_interactive = name == ASKING;
        format!(
            "[[mcp_servers]]\nname = \"{name}\"\ninteractive = {is_interactive}\n[mcp_servers.transport]\ntype = \"stdio\"\ncommand = {}\n\
             args = [\"hostile-server\", \"{name}\"]\n",
            json!(program)
        )
    };
    let servers: String = HOSTILE_SERVERS.map(server).concat();
    Ok(format!(
        "api_listen = \"127.0.0.1:0\"\napi_key = \"{API_KEY}\"\ndefault_agent = \"starter\"\n[a2a]\nenabled = true\n{servers}"
    ))
}

/// Creates a user with a key.
async fn add_user(admin: &mut Client, name: &str, grants: &[&str], password: Option<&str>) -> Result<String> {
    let mut user = json!({"name": name, "grants": grants});
    if let Some(password) = password {
        user["password"] = json!(password);
    }
    post(admin, "/api/users", &user).await?;
    let made = post(admin, "/api/keys", &json!({"user": name})).await?;
    Ok(made["key"].as_str().context("the server gave no key")?.to_owned())
}

async fn post(admin: &mut Client, path: &str, body: &Value) -> Result<Value> {
    let (what, body) = (format!("POST {path}"), body.to_string());
    let request = Request { what: &what, key: API_KEY, headers: "", body: body.as_bytes() };
    let (status, answer) = admin.exchange(&request).await?;
    if !(200..300).contains(&status) {
        bail!("{what} answered {status}: {}", String::from_utf8_lossy(&answer));
    }
    Ok(serde_json::from_slice(&answer)?)
}
