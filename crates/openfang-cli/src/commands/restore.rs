//! `openfang restore`: puts a backup in the place of what is there. What was there is moved aside, not deleted.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use openfang_kernel::SystemClock;
use openfang_kernel::home::create_private_directory;
use openfang_types::clock::Clock as _;
use serde_json::json;

use super::backup::{A2A, AGENTS, CONFIG, DATABASE, MCP, SECRET_KEY, SECRETS, SKILL_TRUST, SKILLS};
use crate::error::{CliError, Exit};
use crate::prompt::{self, Otherwise};
use crate::session::Session;

/// The first bytes of every SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A file or directory to be put into place.
struct Piece {
    from: PathBuf,
    to: PathBuf,
}

impl Piece {
    fn name(&self) -> &OsStr {
        self.to.file_name().unwrap_or_default()
    }
}

pub(super) fn run(session: &Session, from: &Path, is_agreed: bool) -> Result<Exit, CliError> {
    let pieces = pieces(session, from)?;
    let names: Vec<String> = pieces.iter().map(|piece| piece.to.display().to_string()).collect();
    let question = format!("Replace {}? What is there is moved aside.", names.join(", "));
    if !is_agreed && !prompt::confirm(&session.output, &question, Otherwise::No)? {
        session.output.note("nothing was restored; confirm with --yes");
        return Ok(Exit::Usage);
    }
    session.prepare_home()?;
    // No daemon may run meanwhile, and none may start.
    let role = session.home.listen()?;
    let aside = unused(session.home.root(), "replaced")?;
    // Copied first: if the backup cannot be read or the disk is full, nothing has changed.
    let staging = unused(session.home.root(), "restoring")?;
    if let Err(error) = pieces.iter().try_for_each(|piece| copy(&piece.from, &staging.join(piece.name()))) {
        // What is left of it does no harm.
        let _ = (std::fs::remove_dir_all(&staging), std::fs::remove_dir(&aside));
        return Err(error.into());
    }
    let database = session.home.database();
    for path in ["-wal", "-shm"].map(|suffix| PathBuf::from(format!("{}{suffix}", database.display()))) {
        move_aside(&path, &aside)?;
    }
    for piece in &pieces {
        move_aside(&piece.to, &aside)?;
        std::fs::rename(staging.join(piece.name()), &piece.to)?;
    }
    std::fs::remove_dir(&staging)?;
    drop(role);
    if session.output.is_json() {
        session.output.document(&json!({ "restored": names, "movedAside": aside }))?;
    } else {
        session.output.text(&format!("restored {}", names.join(", ")))?;
        session.output.note(&format!("what was there is in {}", aside.display()));
        session.output.note(&format!("check it with `{}`", session.command("doctor")));
    }
    Ok(Exit::Ok)
}

/// What a backup has: a directory of `openfang backup`, or a database alone.
fn pieces(session: &Session, from: &Path) -> Result<Vec<Piece>, CliError> {
    let home = &session.home;
    let wrong = |why: &str| CliError::Usage(format!("{} {why}; name what `openfang backup` wrote", from.display()));
    if !from.exists() {
        return Err(wrong("does not exist"));
    }
    if from.is_file() {
        check_database(from).map_err(|_| wrong("is not a database"))?;
        return Ok(vec![Piece { from: from.to_owned(), to: home.database() }]);
    }
    let parts = [
        (DATABASE, home.database()),
        (CONFIG, home.config()),
        (AGENTS, home.agents()),
        (SECRET_KEY, home.secret_key()),
        (SECRETS, home.secrets()),
        (MCP, home.mcp()),
        (A2A, home.external_agents()),
        (SKILLS, home.skills()),
        (SKILL_TRUST, home.skill_data()),
    ];
    let found = parts.into_iter().map(|(name, to)| Piece { from: from.join(name), to });
    let found: Vec<Piece> = found.filter(|piece| piece.from.exists()).collect();
    check_database(&from.join(DATABASE)).map_err(|_| wrong("has no database"))?;
    Ok(found)
}

fn check_database(path: &Path) -> io::Result<()> {
    use std::io::Read as _;
    let mut start = [0; SQLITE.len()];
    std::fs::File::open(path)?.read_exact(&mut start)?;
    if start == SQLITE { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn move_aside(path: &Path, aside: &Path) -> io::Result<()> {
    match std::fs::rename(path, aside.join(path.file_name().unwrap_or_default())) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// Copies a file, or a directory with what is in it. Links are not followed.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(from)?;
    if found.is_dir() {
        create_private_directory(to)?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    if found.is_file() {
        std::fs::copy(from, to)?;
    }
    Ok(())
}

/// A new directory whose name has this beginning and the time.
fn unused(home: &Path, beginning: &str) -> io::Result<PathBuf> {
    let now: String = SystemClock.now().to_string();
    let stamp: String = now.chars().filter(char::is_ascii_alphanumeric).take(15).collect();
    let names = (1..).map(|number| match number {
        1 => format!("{beginning}-{stamp}"),
        number => format!("{beginning}-{stamp}-{number}"),
    });
    // Nobody else makes one meanwhile: the home is locked.
    let free = names.map(|name| home.join(name)).find(|path| !path.exists());
    let path = free.ok_or(io::ErrorKind::AlreadyExists)?;
    create_private_directory(&path)?;
    Ok(path)
}
