//! The arguments of `openfang skill`.

use std::path::PathBuf;

use clap::Subcommand;
use openfang_types::ids::SkillName;

#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// List skills and how far each may be used
    #[command(after_help = "Example:\n  openfang skill list")]
    List,
    /// Show a skill: its files, what to look at before trusting it, and what changed since it was trusted
    #[command(after_help = "Example:\n  openfang skill show pdf-forms")]
    Show {
        /// The name of the skill
        name: SkillName,
    },
    /// Install a skill from a directory, a zip archive or an MCP server; it is not trusted yet
    ///
    /// The files are shown first. A private copy is kept, so that later changes at the source have no effect.
    #[command(
        after_help = "Examples:\n  openfang skill install ./pdf-forms\n  openfang skill install pdf-forms.zip --yes\n  openfang skill install mcp:docs/skill://docs/pdf-forms/SKILL.md"
    )]
    Install(SkillInstallArgs),
    /// Trust the files of a skill as they are now, or a project directory in which skills are looked for
    ///
    /// Trust is bound to the digest of all files: after any change the skill is not used until it is trusted again.
    #[command(
        after_help = "Examples:\n  openfang skill trust pdf-forms --enable\n  openfang skill trust ~/projects/site"
    )]
    Trust(SkillTrustArgs),
    /// Let agents activate a skill that is trusted; a skill of an MCP server need not be
    #[command(after_help = "Example:\n  openfang skill enable pdf-forms")]
    Enable {
        /// The name of the skill
        name: SkillName,
    },
    /// Stop agents from activating a skill
    #[command(after_help = "Example:\n  openfang skill disable pdf-forms")]
    Disable {
        /// The name of the skill
        name: SkillName,
    },
    /// Check the files of a skill without installing it
    #[command(after_help = "Example:\n  openfang skill validate ./pdf-forms")]
    Validate {
        /// A directory with a SKILL.md, or a zip archive
        #[arg(value_name = "PATH")]
        path: PathBuf,
    },
    /// Write a new skill into the home
    #[command(
        after_help = "Example:\n  openfang skill new release-notes --description 'Writes release notes from a git log'"
    )]
    New {
        /// The name of the skill
        name: SkillName,
        /// What the skill is for, and when to use it
        #[arg(long)]
        description: Option<String>,
    },
    /// Remove an installed skill, or the trust in a skill or project directory; files elsewhere stay
    #[command(after_help = "Examples:\n  openfang skill remove pdf-forms\n  openfang skill remove ~/projects/site")]
    Remove {
        /// The name of the skill, or a trusted project directory
        #[arg(value_name = "NAME|DIR")]
        target: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct SkillInstallArgs {
    /// A directory, a zip archive, or mcp:SERVER/URI
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// Install the skill without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SkillTrustArgs {
    /// The name of the skill, or a project directory
    #[arg(value_name = "NAME|DIR")]
    pub(crate) target: String,
    /// Let agents activate the skill too
    #[arg(long)]
    pub(crate) enable: bool,
    /// Trust the files without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}
