//! The arguments of `openfang audit`.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use openfang_kernel::maintenance::{AuditFilter, Since, SubjectKind};

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the latest rows, newest last; with --json one row per line
    #[command(
        after_help = "Examples:\n  openfang audit tail -n 50\n  openfang audit tail -f --json\n  openfang audit tail --kind change --since 7d\n  openfang audit tail --owner ada --outcome not_granted --subject 'file_*'"
    )]
    Tail(AuditTailArgs),
    /// Show one row with its position in the hash chain
    #[command(after_help = "Example:\n  openfang audit show 42")]
    Show {
        /// The number of the row
        #[arg(value_name = "ROW")]
        n: u64,
    },
    /// Verify the hash chain; exit code 1 names the first row that was changed, removed or moved
    #[command(after_help = "Example:\n  openfang audit verify")]
    Verify,
    /// Write all rows with their hashes, one JSON document per line
    #[command(after_help = "Examples:\n  openfang audit export audit.jsonl\n  openfang audit export -")]
    Export {
        /// The file to write, - for standard output; an existing file is not overwritten
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct AuditTailArgs {
    /// The number of rows to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: u32,
    /// Print new rows as they are written
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only rows of this user; `*house` stands for OpenFang itself
    #[arg(long, value_name = "USER")]
    owner: Option<String>,
    /// Only rows of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(SubjectKind::ALL.map(SubjectKind::as_str)).map(|word| kind(&word)))]
    kind: Option<SubjectKind>,
    /// Only rows with this outcome (such as refused or tool-failed), or refused for this reason (such as not_granted)
    #[arg(long, value_name = "WORD")]
    outcome: Option<String>,
    /// Only rows whose subject matches; * matches any characters
    #[arg(long, value_name = "PATTERN")]
    subject: Option<String>,
    /// Only rows since a timestamp, or since a duration ago (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "TIME")]
    since: Option<Since>,
}

impl AuditTailArgs {
    /// The filter that the flags describe.
    pub(crate) fn filter(&self) -> AuditFilter {
        let Self { owner, kind, outcome, subject, since, .. } = self;
        AuditFilter {
            owner: owner.clone(),
            kind: *kind,
            outcome: outcome.clone(),
            subject: subject.clone(),
            since: *since,
        }
    }
}

/// Maps a word to its kind. The parser accepts known kinds only.
fn kind(word: &str) -> SubjectKind {
    SubjectKind::from_word(word).unwrap_or(SubjectKind::Call)
}
