//! How a program reaches OpenFang: the binary with its absolute path, or the URL of the daemon.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use openfang_kernel::config_file;
use openfang_types::ids::ProfileName;

use crate::error::CliError;
use crate::session::Session;

/// The path to start this binary by: a link on PATH if one leads here, so that an upgrade keeps the path, else the file.
pub(in crate::commands) fn program() -> Result<PathBuf, CliError> {
    let ourselves = std::env::current_exe().map_err(CliError::Input)?;
    if !ourselves.is_file() {
        return Err(CliError::Usage(format!(
            "the file of this program is gone ({}); it was replaced while running, so run the command again",
            ourselves.display()
        )));
    }
    let leads_here = |path: &Path| std::fs::canonicalize(path).is_ok_and(|target| target == ourselves);
    let name = ourselves.file_name().unwrap_or_default();
    let linked = std::env::split_paths(&config_file::search_path())
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|path| leads_here(path));
    Ok(linked.unwrap_or(ourselves))
}

/// The arguments that serve this home over standard input and output.
pub(in crate::commands) fn arguments(
    session: &Session,
    agent: Option<&str>,
    profile: Option<&ProfileName>,
) -> Vec<String> {
    let mut words = vec!["mcp".to_owned(), "--tools".to_owned()];
    if let Some(profile) = profile {
        words.extend(["--profile".to_owned(), profile.to_string()]);
    }
    if let Some(agent) = agent {
        words.extend(["--agent".to_owned(), agent.to_owned()]);
    }
    if !session.is_default_home() {
        words.extend(["--home".to_owned(), session.home.root().display().to_string()]);
    }
    words
}

/// The MCP endpoint of the daemon: where it listens, or would listen.
pub(super) async fn url(session: &Session) -> Result<String, CliError> {
    let address = match session.daemon().await? {
        Some(daemon) => daemon.address(),
        None => session.config(&[])?.api_listen,
    };
    let address = if address.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
    } else {
        address
    };
    Ok(format!("http://{address}/mcp"))
}
