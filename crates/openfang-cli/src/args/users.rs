//! `openfang user` and `openfang key`.

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use openfang_types::ids::{KeyId, Owner};
use openfang_types::taint::Label;

/// What a key may say about who uses it.
const TRUSTED_AS: [Label; 2] = [Label::User, Label::UntrustedAgent];

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user; from then on nobody comes in without a credential
    #[command(
        after_help = "Examples:\n  openfang user add ada --grant 'agent:starter/*' --grant 'get_*'\n  openfang user add ada --grant '*' --password-stdin < password.txt"
    )]
    Add(UserAddArgs),
    /// List the users and what they may do
    #[command(after_help = "Example:\n  openfang user list")]
    List,
    /// Remove a user: its keys and logins are worth nothing at once; what it made stays, and is nobody's
    #[command(after_help = "Example:\n  openfang user remove ada")]
    Remove {
        /// Which user
        name: Owner,
    },
    /// Replace what a user may do; what is open on the old permissions ends
    #[command(
        after_help = "Examples:\n  openfang user set-permissions ada 'agent:starter' 'file_*'\n  openfang user set-permissions ada --none"
    )]
    SetPermissions {
        /// Which user
        name: Owner,
        /// Tool patterns, server:NAME (everything of an MCP server), agent:NAME (talk to it), agent:NAME/* (and use all its tools)
        #[arg(value_name = "GRANT", required_unless_present = "none")]
        grants: Vec<String>,
        /// Nothing at all
        #[arg(long, conflicts_with = "grants")]
        none: bool,
    },
    /// Replace a user's password; logins with the old one end
    #[command(
        after_help = "Examples:\n  openfang user set-password ada --password-stdin < password.txt\n  openfang user set-password ada --none"
    )]
    SetPassword(UserPasswordArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct UserAddArgs {
    /// What the user is called
    pub(crate) name: Owner,
    /// A tool pattern, server:NAME (everything of an MCP server), agent:NAME (talk to it) or agent:NAME/* (and use all its tools); may be repeated
    #[arg(long, value_name = "GRANT")]
    pub(crate) grant: Vec<String>,
    /// Read a password from standard input, so that the user can log in
    #[arg(long)]
    pub(crate) password_stdin: bool,
    /// Follow a removed user of the same name, and own what that one left
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UserPasswordArgs {
    /// Which user
    pub(crate) name: Owner,
    /// Read the password from standard input
    #[arg(long, required_unless_present = "none")]
    pub(crate) password_stdin: bool,
    /// Take the password away: the user comes with keys only
    #[arg(long, conflicts_with = "password_stdin")]
    pub(crate) none: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key for a user and print it, this once
    #[command(
        after_help = "Examples:\n  openfang key create ada --label laptop\n  openfang key create ada --trust untrusted-agent"
    )]
    Create(KeyCreateArgs),
    /// List the keys, of one user or of all
    #[command(after_help = "Example:\n  openfang key list ada")]
    List {
        /// Only this user's
        #[arg(value_name = "USER")]
        name: Option<Owner>,
    },
    /// Revoke a key: it opens nothing from now on, and what is open on it ends
    #[command(after_help = "Example:\n  openfang key revoke 4f1c0a9d27be")]
    Revoke {
        /// Which key, as `openfang key list` shows it
        id: KeyId,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct KeyCreateArgs {
    /// Whose key
    #[arg(value_name = "USER")]
    pub(crate) name: Owner,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) label: String,
    /// What its requests count as, whichever door they come through [default: by the door]
    #[arg(long, value_parser = PossibleValuesParser::new(TRUSTED_AS.map(Label::as_str))
        .try_map(|word| TRUSTED_AS.into_iter().find(|label| label.as_str() == word).ok_or("not a label")))]
    pub(crate) trust: Option<Label>,
}
