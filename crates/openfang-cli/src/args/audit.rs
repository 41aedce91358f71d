//! `openfang audit`.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use openfang_kernel::maintenance::{AuditFilter, Since, SubjectKind};

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the latest rows, newest last; with --json one row a line
    #[command(
        after_help = "Examples:\n  openfang audit tail -n 50\n  openfang audit tail -f --json\n  openfang audit tail --kind change --since 7d\n  openfang audit tail --owner ada --outcome not_granted --subject 'file_*'"
    )]
    Tail(AuditTailArgs),
    /// Show one row
    #[command(after_help = "Example:\n  openfang audit show 42")]
    Show {
        /// Its number
        #[arg(value_name = "ROW")]
        n: u64,
    },
    /// Look for rows that were changed, removed or moved; exit code 1 if there is one, and which
    #[command(after_help = "Example:\n  openfang audit verify")]
    Verify,
    /// Write all rows with their hashes, one JSON document a line
    #[command(after_help = "Examples:\n  openfang audit export audit.jsonl\n  openfang audit export -")]
    Export {
        /// Where to; - is standard output, and a file that is there is not overwritten
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct AuditTailArgs {
    /// How many rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: u32,
    /// Go on with rows as they come
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only rows of this user; *house is OpenFang itself
    #[arg(long, value_name = "USER")]
    owner: Option<String>,
    /// Only rows about this
    #[arg(long, value_parser = PossibleValuesParser::new(SubjectKind::ALL.map(SubjectKind::as_str)).map(|word| kind(&word)))]
    kind: Option<SubjectKind>,
    /// Only rows with this outcome (such as refused or tool-failed), or refused for this reason (such as not_granted)
    #[arg(long, value_name = "WORD")]
    outcome: Option<String>,
    /// Only rows whose subject fits; * stands for any run of characters
    #[arg(long, value_name = "PATTERN")]
    subject: Option<String>,
    /// Only rows from then on: a timestamp, or how long ago (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "TIME")]
    since: Option<Since>,
}

impl AuditTailArgs {
    /// Which rows are wanted.
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

/// The parser lets only words of kinds through.
fn kind(word: &str) -> SubjectKind {
    SubjectKind::from_word(word).unwrap_or(SubjectKind::Call)
}
