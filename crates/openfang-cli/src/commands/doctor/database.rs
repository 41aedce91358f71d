//! The database, its log, the audit chain and the space on the disk.

use openfang_kernel::maintenance::{self, AuditLog};
use openfang_types::limits::{DOCTOR_CHECK, DOCTOR_FREE_BYTES, DOCTOR_LOG_BYTES};
use tokio::time::timeout;

use super::Check;
use crate::session::Session;

pub(super) async fn checks(session: &Session) -> Vec<Check> {
    let home = session.home.clone();
    let path = home.database();
    if !home.root().exists() {
        return Vec::new();
    }
    let mut found = Vec::new();
    if !path.exists() {
        if home.root().join("home.json").exists() {
            found.push(Check::fail(
                "database",
                format!("{} is missing, and this home had one", path.display()),
                format!("`{}` with a backup, or `{}`", session.command("restore"), session.command("home accept")),
            ));
        }
        return found;
    }
    let restore = session.command("restore FILE");
    let work = tokio::task::spawn_blocking(move || checked(&home, &restore));
    match timeout(DOCTOR_CHECK, work).await {
        Ok(Ok(checks)) => found.extend(checks),
        Ok(Err(_)) | Err(_) => found.push(Check::warn(
            "database",
            format!("the check took longer than {} s", DOCTOR_CHECK.as_secs()),
            session.command("db check"),
        )),
    }
    let log = std::fs::metadata(format!("{}-wal", path.display())).map_or(0, |found| found.len());
    if log > DOCTOR_LOG_BYTES {
        let text = format!("the log of the database has {} MB", log / 1_000_000);
        found.push(Check::warn("database", text, "restart the daemon, which folds it into the database"));
    }
    found.extend(space(session));
    found
}

fn checked(home: &openfang_kernel::home::Home, restore: &str) -> Vec<Check> {
    let broken = |text: String| Check::fail("database", text, format!("`{restore}` with the latest backup"));
    let mut found = match maintenance::check(home) {
        Ok(report) if report.findings.is_empty() => {
            vec![Check::ok("database", format!("{} tasks, {} audit rows", report.tasks, report.audit.rows))]
        }
        Ok(report) => report.findings.iter().map(|finding| broken(finding.to_string())).collect(),
        Err(error) => vec![broken(error.to_string())],
    };
    if let Ok(verified) = AuditLog::open(home).and_then(|log| log.verify()) {
        found.push(match verified.first_problem {
            None => Check::ok("audit", format!("{} rows are intact", verified.rows)),
            Some(problem) => Check::fail("audit", problem.to_string(), "keep a copy of the home, and investigate"),
        });
    }
    found
}

#[cfg(unix)]
fn space(session: &Session) -> Option<Check> {
    let found = rustix::fs::statvfs(session.home.root()).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free < DOCTOR_FREE_BYTES {
        let text = format!("{} MB are free on the disk of the home", free / 1_000_000);
        return Some(Check::warn(
            "disk",
            text,
            "free some space; without any, calls that change something are refused",
        ));
    }
    Some(Check::ok("disk", format!("{} GB are free", free / 1_000_000_000)))
}

#[cfg(not(unix))]
fn space(_: &Session) -> Option<Check> {
    None
}
