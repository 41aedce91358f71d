//! Rows as stored in a database, by this and by earlier versions.
//!
//! Earlier versions had `tool` instead of `subject`, and wrote everything except calls as the name of a tool that does
//! not exist: `user_add.bob_at_example.org`, `login`, `audit.gap`. The kind of the row is derived from such a name. The
//! name itself is kept unchanged, because it cannot be decoded reliably.

use jiff::Timestamp;
use openfang_types::ids::{AgentName, Owner, RunId, ToolName, TraceId};
use openfang_types::principal::Door;
use serde::Deserialize;

use super::{AuditOutcome, AuditRow, AuditSubject, SubjectKind, recorded_owner};

/// The prefixes of names that stood for changes.
const CHANGES: [&str; 12] = [
    "user_add.",
    "user_remove.",
    "user_grants.",
    "user_password.",
    "key_create.",
    "key_revoke.",
    "mcp_server_add.",
    "mcp_server_remove.",
    "mcp_server_restart.",
    "mcp_server_test.",
    "mcp_server_approve.",
    "home_accept.",
];

/// A row with either form of its subject.
#[derive(Deserialize)]
pub(super) struct StoredRow {
    trace: TraceId,
    at: Timestamp,
    #[serde(deserialize_with = "recorded_owner")]
    owner: Owner,
    door: Door,
    agent: Option<AgentName>,
    run: Option<RunId>,
    subject: Option<AuditSubject>,
    tool: Option<ToolName>,
    outcome: AuditOutcome,
    micros: u64,
}

impl TryFrom<StoredRow> for AuditRow {
    type Error = &'static str;

    fn try_from(row: StoredRow) -> Result<Self, Self::Error> {
        let subject = match (row.subject, row.tool) {
            (Some(subject), None) => subject,
            (None, Some(name)) => former(name, row.agent.is_some(), &row.outcome),
            (Some(_), Some(_)) | (None, None) => return Err("a row has either a subject or a tool"),
        };
        Ok(Self {
            trace: row.trace,
            at: row.at,
            owner: row.owner,
            door: row.door,
            agent: row.agent,
            run: row.run,
            subject,
            outcome: row.outcome,
            micros: row.micros,
        })
    }
}

/// The subject of a row that has only a name. A caller can use any tool name, so a call of an unknown tool stays a
/// call.
fn former(name: ToolName, has_agent: bool, outcome: &AuditOutcome) -> AuditSubject {
    match outcome {
        AuditOutcome::Refusals(_) | AuditOutcome::Gap(_) | AuditOutcome::Removed(_) => return AuditSubject::Log,
        AuditOutcome::Refused(why) if why == "unknown_tool" => return AuditSubject::call(name),
        AuditOutcome::Refused(why) if why == "definition_changed" => {
            return AuditSubject::Former { kind: SubjectKind::Definition, name };
        }
        AuditOutcome::Started
        | AuditOutcome::Succeeded
        | AuditOutcome::ToolFailed
        | AuditOutcome::Refused(_)
        | AuditOutcome::Cancelled
        | AuditOutcome::Quarantined
        | AuditOutcome::StillOffered => {}
    }
    match name.as_str() {
        "login" => AuditSubject::Login,
        "logout" => AuditSubject::Logout,
        text if !has_agent && CHANGES.iter().any(|begin| text.starts_with(begin)) => {
            AuditSubject::Former { kind: SubjectKind::Change, name }
        }
        _ => AuditSubject::call(name),
    }
}
