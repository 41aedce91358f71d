//! The arguments of `openfang user` and `openfang key`.

use std::time::Duration;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap_complete::engine::ArgValueCandidates;
use openfang_types::ids::{KeyId, Owner, ProfileName};
use openfang_types::taint::Label;

use crate::names;

/// The labels that requests of a key can be given.
const TRUSTED_AS: [Label; 2] = [Label::User, Label::UntrustedAgent];

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user; from then on every request needs a credential
    #[command(
        after_help = "Examples:\n  openfang user add ada --grant 'agent:starter/*' --grant 'get_*'\n  openfang user add ada --grant '*' --password-stdin < password.txt"
    )]
    Add(UserAddArgs),
    /// List users and their grants
    #[command(after_help = "Example:\n  openfang user list")]
    List,
    /// Remove a user and revoke their keys and logins; their tasks are kept without an owner
    #[command(after_help = "Example:\n  openfang user remove ada")]
    Remove {
        /// The name of the user
        name: Owner,
    },
    /// Replace the grants of a user; open connections are closed
    #[command(
        after_help = "Examples:\n  openfang user set-permissions ada 'agent:starter' 'file_*'\n  openfang user set-permissions ada --none"
    )]
    SetPermissions {
        /// The name of the user
        name: Owner,
        /// A tool pattern, server:NAME (a whole MCP server), agent:NAME (messages to an agent) or agent:NAME/* (and all its tools)
        #[arg(value_name = "GRANT", required_unless_present = "none")]
        grants: Vec<String>,
        /// Remove all grants of the user
        #[arg(long, conflicts_with = "grants")]
        none: bool,
    },
    /// Add grants to a user, and show what each names today
    #[command(after_help = "Example:\n  openfang user grant ada 'mcp_github_*' agent:reviewer")]
    Grant {
        /// The name of the user
        name: Owner,
        /// A tool pattern, server:NAME, agent:NAME or agent:NAME/*
        #[arg(value_name = "GRANT", required = true)]
        grants: Vec<String>,
    },
    /// Remove grants from a user; open connections are closed
    #[command(after_help = "Example:\n  openfang user revoke ada 'mcp_github_*'")]
    Revoke {
        /// The name of the user
        name: Owner,
        /// The grants to remove, as `openfang user list` shows them
        #[arg(value_name = "GRANT", required = true)]
        grants: Vec<String>,
    },
    /// Set or remove the password of a user; existing logins end
    #[command(
        after_help = "Examples:\n  openfang user set-password ada\n  openfang user set-password ada --password-stdin < password.txt\n  openfang user set-password ada --none"
    )]
    SetPassword(UserPasswordArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct UserAddArgs {
    /// The name of the new user
    pub(crate) name: Owner,
    /// A tool pattern, server:NAME (a whole MCP server), agent:NAME (messages to an agent) or agent:NAME/* (and all its tools); may be repeated
    #[arg(long, value_name = "GRANT")]
    pub(crate) grant: Vec<String>,
    /// Read a password from standard input, so that the user can log in
    #[arg(long)]
    pub(crate) password_stdin: bool,
    /// Reuse the name of a removed user and take over that user's tasks and files
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UserPasswordArgs {
    /// The name of the user
    pub(crate) name: Owner,
    /// Read the password from standard input [default: ask for it on the terminal]
    #[arg(long)]
    pub(crate) password_stdin: bool,
    /// Remove the password; the user can then use keys only
    #[arg(long, conflicts_with = "password_stdin")]
    pub(crate) none: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key for a user and print it once
    #[command(
        after_help = "Examples:\n  openfang key create ada --label laptop\n  openfang key create ada --trust untrusted-agent\n  openfang key create ada --profile work --expires 90d"
    )]
    Create(KeyCreateArgs),
    /// List the keys of one user or of all users
    #[command(after_help = "Example:\n  openfang key list ada")]
    List {
        /// List only the keys of this user
        #[arg(value_name = "USER")]
        name: Option<Owner>,
    },
    /// Revoke a key; open connections are closed
    #[command(after_help = "Example:\n  openfang key revoke 4f1c0a9d27be")]
    Revoke {
        /// The id of the key, as shown by `openfang key list`
        id: KeyId,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct KeyCreateArgs {
    /// The user who owns the key
    #[arg(value_name = "USER")]
    pub(crate) name: Owner,
    /// A description, such as the device or program that uses the key
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) label: String,
    /// The label of requests made with this key [default: depends on the endpoint]
    #[arg(long, value_parser = PossibleValuesParser::new(TRUSTED_AS.map(Label::as_str))
        .try_map(|word| TRUSTED_AS.into_iter().find(|label| label.as_str() == word).ok_or("not a label")))]
    pub(crate) trust: Option<Label>,
    /// The profile that narrows requests made with this key, on every interface
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(names::profiles))]
    pub(crate) profile: Option<ProfileName>,
    /// How long the key is valid: a number of days or hours, such as 90d or 12h [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    pub(crate) expires: Option<Duration>,
}

/// A time such as `90d` or `12h`.
fn lifetime(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number of days or hours, such as 90d or 12h".to_owned();
    let seconds = match text.chars().last() {
        Some('d') => 24 * 60 * 60,
        Some('h') => 60 * 60,
        Some(_) | None => return Err(wrong()),
    };
    let count: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    // A thousand years are for ever.
    let longest = 365_000 * 24 * 60 * 60;
    let total = u64::from(count).checked_mul(seconds).filter(|total| (1..=longest).contains(total));
    total.map(Duration::from_secs).ok_or_else(wrong)
}
