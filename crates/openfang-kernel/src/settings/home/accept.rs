//! Giving up what a home has lost, because the operator says so. Nothing is deleted: what cannot be used is moved aside.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use openfang_store::{HomePart, OpenError, Sqlite};
use openfang_types::ids::NodeId;
use uuid::Uuid;

use super::record::{HomeRecord, RecordError};
use super::{Home, HomeError, ListenError};
use crate::maintenance::{self, MaintenanceError};

/// Something that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// Which part of the home.
    pub part: HomePart,
    /// A sentence for the operator.
    pub text: String,
}

/// Why nothing was given up.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    #[error(transparent)]
    Role(#[from] ListenError),
    /// A file cannot be used.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The database cannot be used, and giving it up would not help.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The users cannot be read.
    #[error(transparent)]
    Maintenance(#[from] MaintenanceError),
}

impl Home {
    /// Gives up what this home has lost, as it is now. Says what that was; nothing, if nothing is lost. The next start
    /// makes what is missing.
    pub fn accept(&self, has_api_key: bool) -> Result<Vec<Acceptance>, AcceptError> {
        self.prepare()?;
        let _role = self.listen()?;
        let mut accepted = Vec::new();
        let mut is_given_up = false;
        let mut record = match HomeRecord::read(self) {
            Ok(None) if !self.has_had_database() => return Ok(accepted),
            Ok(None) => HomeRecord::default(),
            Ok(Some(record)) => {
                is_given_up = record.id.is_none();
                record
            }
            Err(RecordError::File(error)) => return Err(error.into()),
            Err(RecordError::Lost(_)) => {
                let aside = self.move_aside(&[self.record()])?;
                accepted.push(Acceptance {
                    part: HomePart::Record,
                    text: format!("home.json was damaged and is now {aside}"),
                });
                HomeRecord::default()
            }
        };
        if record.secret_key.is_some() && !self.secret_key().exists() {
            record.secret_key = None;
            accepted
                .push(Acceptance { part: HomePart::SecretKey, text: "a new data/secret.key is created".to_owned() });
        }
        if !is_given_up {
            accepted.extend(self.accept_database(&mut record)?);
        }
        let has_users = maintenance::users_in(&self.database())?;
        if record.lost_protection(has_users, has_api_key).is_some() {
            let lost = [(record.has_users, HomePart::Users), (record.has_api_key, HomePart::ApiKey)];
            accepted.extend(lost.into_iter().filter(|(was_there, _)| *was_there).map(|(_, part)| Acceptance {
                part,
                text: format!("the home no longer has {}: every local process has access", part.as_str()),
            }));
            (record.has_users, record.has_api_key) = (false, false);
        }
        if !accepted.is_empty() {
            record.write(&self.record()).map_err(|cause| HomeError::new(self.record(), cause))?;
        }
        Ok(accepted)
    }

    /// Moves a database aside that cannot be used, and takes over one of another home.
    fn accept_database(&self, record: &mut HomeRecord) -> Result<Option<Acceptance>, AcceptError> {
        let (path, node) = (self.database(), NodeId::from_uuid(Uuid::now_v7()));
        let opened = match record.id {
            Some(id) => Sqlite::open_known(&path, node, id),
            None => Sqlite::open_existing(&path, node),
        };
        let text = match opened {
            Ok(_) => return Ok(None),
            Err(OpenError::OtherHome { .. }) => "the database of another home is used from now on".to_owned(),
            Err(error @ (OpenError::Lost { .. } | OpenError::Damaged { .. } | OpenError::Foreign { .. })) => {
                let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
                let why = error.what_happened();
                let aside = self.move_aside(&[path.clone(), beside("-wal"), beside("-shm")])?;
                let aside = if aside.is_empty() { String::new() } else { format!("; the old files are now {aside}") };
                format!("the database {why}: a new one is created{aside}")
            }
            Err(error) => return Err(error.into()),
        };
        (record.id, record.accounts) = (None, 0);
        Ok(Some(Acceptance { part: HomePart::Database, text }))
    }

    /// Renames what is there of these files. Says how they are called now.
    fn move_aside(&self, files: &[PathBuf]) -> Result<String, HomeError> {
        let mut moved = Vec::new();
        let second = Timestamp::now().as_second();
        for file in files {
            let aside = PathBuf::from(format!("{}.lost-{second}", file.display()));
            match rename_new(file, &aside) {
                Ok(()) => moved.push(aside.display().to_string()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(HomeError::new(aside, cause)),
            }
        }
        Ok(moved.join(", "))
    }
}

fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}
