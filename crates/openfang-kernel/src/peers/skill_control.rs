//! Control of the skills: who may look, who may change, and what a change leaves in the audit log.
//!
//! Whoever trusts a skill decides what agents are told, so only who is on this machine may change anything: the daemon token or
//! the process itself.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_runtime::skills::{SkillFiles, SkillPackage, archive, directory};
use openfang_runtime::workspace::Workspace;
use openfang_store::{ChangeAction, ChangeTarget};
use openfang_types::clock::Clock;
use openfang_types::ids::{ServerName, SkillName};
use openfang_types::limits::SKILL_ARCHIVE_MAX_BYTES;
use openfang_types::principal::{AdminProof, PrincipalKind};
use openfang_types::skills::{SkillAction, SkillDetails, SkillList, SkillState, SkillView};

use crate::change::{Change, ChangeRecorder};
use crate::peers::skills::{InstallSource, Skills, inspect};
use crate::{Caller, KernelError};

pub use crate::peers::skills::SkillError;

/// Changes the skills. Cheap to clone.
#[derive(Clone)]
pub(crate) struct SkillControl {
    skills: Arc<Skills>,
    changes: ChangeRecorder,
    clock: Arc<dyn Clock>,
}

/// Where a skill is to be installed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillSource {
    /// A directory or a zip archive on this machine.
    Path(PathBuf),
    /// A skill of an MCP server, by the URI of its `SKILL.md`.
    Server(ServerName, String),
}

/// A skill that was read from where it is to be installed from.
pub(crate) struct FetchedSkill {
    pub(crate) files: SkillFiles,
    pub(crate) package: SkillPackage,
    pub(crate) source: InstallSource,
}

impl SkillSource {
    /// The source in a text: `mcp:SERVER/URI`, or an absolute path.
    pub fn parse(text: &str) -> Result<Self, SkillError> {
        if let Some(rest) = text.strip_prefix("mcp:") {
            let wrong =
                || SkillError::Source("write mcp:SERVER/URI, such as mcp:docs/skill://docs/pdf/SKILL.md".to_owned());
            let (server, uri) = rest.split_once('/').ok_or_else(wrong)?;
            return Ok(Self::Server(server.parse().map_err(|_| wrong())?, uri.to_owned()));
        }
        let path = PathBuf::from(text);
        match path.is_absolute() {
            true => Ok(Self::Path(path)),
            false => Err(SkillError::Source("name an absolute path, or mcp:SERVER/URI".to_owned())),
        }
    }
}

/// Reads a skill from a directory or an archive, and says everything about it. Nothing is installed. Blocks.
pub fn validate_skill(path: &Path) -> Result<SkillDetails, SkillError> {
    let fetched = FetchedSkill::from_path(path)?;
    Ok(fetched.describe())
}

impl FetchedSkill {
    /// Reads a directory or an archive. Blocks.
    fn from_path(path: &Path) -> Result<Self, SkillError> {
        let unusable = |error: &dyn std::fmt::Display| SkillError::Unusable(format!("{}: {error}", path.display()));
        let found = path.metadata().map_err(|error| unusable(&error))?;
        let (files, name) = if found.is_dir() {
            let place = Workspace::view(path).map_err(|error| unusable(&error))?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            (directory::read(&place, ".").map_err(|error| unusable(&error))?, name)
        } else {
            let files = archive::unpack(&archive_bytes(path, &found)?).map_err(|error| unusable(&error))?;
            (files.without_common_directory(), None)
        };
        let package = SkillPackage::of(&files, name.as_deref()).map_err(|error| unusable(&error))?;
        let source = InstallSource { shown: path.display().to_string(), server: None };
        Ok(Self { files, package, source })
    }

    /// Everything about a skill that is not installed yet.
    pub(crate) fn describe(&self) -> SkillDetails {
        let Self { files, package, source } = self;
        let view = SkillView {
            name: package.name.clone(),
            description: package.description.clone(),
            state: SkillState::Installed,
            enabled: false,
            active: false,
            source: source.shown.clone(),
            server: source.server.as_ref().map(|(server, _)| server.clone()),
            digest: package.digest.clone(),
        };
        inspect::describe(view, (files, package), Vec::new())
    }
}

/// The bytes of an archive, which must be a plain file.
fn archive_bytes(path: &Path, found: &std::fs::Metadata) -> Result<Vec<u8>, SkillError> {
    let unusable = |why: String| SkillError::Unusable(format!("{}: {why}", path.display()));
    if !found.is_file() {
        return Err(unusable("it is neither a directory nor a zip archive".to_owned()));
    }
    let most = SKILL_ARCHIVE_MAX_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(|error| unusable(error.to_string()))?;
    Ok(bytes)
}

impl SkillControl {
    pub(crate) fn new(skills: Arc<Skills>, changes: ChangeRecorder, clock: Arc<dyn Clock>) -> Self {
        Self { skills, changes, clock }
    }

    /// The skills that this controls.
    pub(crate) const fn skills(&self) -> &Arc<Skills> {
        &self.skills
    }

    pub(crate) async fn list(&self, caller: &Caller) -> Result<SkillList, KernelError> {
        may_look(caller)?;
        self.blocking(Skills::list).await
    }

    pub(crate) async fn details(&self, caller: &Caller, name: &SkillName) -> Result<SkillDetails, KernelError> {
        may_look(caller)?;
        let name = name.clone();
        self.blocking(move |skills| skills.details(&name)).await
    }

    /// Reads a directory or an archive. Nothing is kept.
    pub(crate) async fn fetch(&self, path: PathBuf) -> Result<FetchedSkill, KernelError> {
        self.blocking(move |_| FetchedSkill::from_path(&path)).await
    }

    /// Keeps a skill that was read. With a digest, only if its files have it.
    pub(crate) async fn install(
        &self,
        caller: &Caller,
        fetched: FetchedSkill,
        wanted: Option<&str>,
    ) -> Result<SkillDetails, KernelError> {
        let FetchedSkill { files, package, source } = fetched;
        let (name, digest) = (package.name.clone(), package.digest.clone());
        let allowed = may_change(caller).and_then(|()| match wanted {
            Some(wanted) if wanted != digest => Err(SkillError::OtherDigest { now: digest.clone() }.into()),
            Some(_) | None => Ok(()),
        });
        let (this, now, shown) = (self.clone(), self.clock.now(), name.clone());
        let work = async move {
            this.blocking(move |skills| skills.install((&files, &package), source, now)).await?;
            this.blocking(move |skills| skills.details(&shown)).await
        };
        self.changes
            .make(of_skill(caller, ChangeAction::Add, &name, Some(digest)), allowed, work)
            .await
    }

    pub(crate) async fn change(
        &self,
        caller: &Caller,
        name: &SkillName,
        action: SkillAction,
    ) -> Result<SkillDetails, KernelError> {
        let (verb, digest) = match &action {
            SkillAction::Trust { digest } => (ChangeAction::Trust, digest.clone()),
            SkillAction::Enable {} => (ChangeAction::Enable, None),
            SkillAction::Disable {} => (ChangeAction::Disable, None),
        };
        let (this, now, changed) = (self.clone(), self.clock.now(), name.clone());
        let work = async move {
            this.blocking(move |skills| {
                match action {
                    SkillAction::Trust { digest } => skills.trust(&changed, digest.as_deref(), now)?,
                    SkillAction::Enable {} => skills.set_enabled(&changed, true)?,
                    SkillAction::Disable {} => skills.set_enabled(&changed, false)?,
                }
                skills.details(&changed)
            })
            .await
        };
        self.changes.make(of_skill(caller, verb, name, digest), may_change(caller), work).await
    }

    pub(crate) async fn remove(&self, caller: &Caller, name: &SkillName) -> Result<(), KernelError> {
        let (this, gone) = (self.clone(), name.clone());
        let work = async move { this.blocking(move |skills| skills.remove(&gone)).await };
        self.changes
            .make(of_skill(caller, ChangeAction::Remove, name, None), may_change(caller), work)
            .await
    }

    /// Looks for skills in a project directory from now on, or no more.
    pub(crate) async fn set_project(&self, caller: &Caller, path: &Path, is_trusted: bool) -> Result<(), KernelError> {
        let action = if is_trusted { ChangeAction::Trust } else { ChangeAction::Remove };
        let change = Change { caller, action, target: ChangeTarget::skill_project(&path.display().to_string()) };
        let (this, path) = (self.clone(), path.to_owned());
        let work = async move {
            this.blocking(move |skills| {
                if !path.is_absolute() || (is_trusted && !path.is_dir()) {
                    return Err(SkillError::Source(format!(
                        "{} is not the absolute path of a directory",
                        path.display()
                    )));
                }
                skills.set_project(path, is_trusted)
            })
            .await
        };
        self.changes.make(change, may_change(caller), work).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Skills) -> Result<T, SkillError> + Send + 'static,
    ) -> Result<T, KernelError> {
        let skills = Arc::clone(&self.skills);
        let done = tokio::task::spawn_blocking(move || work(&skills)).await;
        Ok(done.unwrap_or_else(|_| Err(SkillError::Storage("the work on it broke; see the log".to_owned())))?)
    }
}

fn of_skill<'a>(caller: &'a Caller, action: ChangeAction, name: &SkillName, digest: Option<String>) -> Change<'a> {
    // A caller names the digest too.
    let digest = digest.map(|digest| digest.chars().filter(char::is_ascii_hexdigit).take(64).collect());
    Change { caller, action, target: ChangeTarget::Skill { name: name.clone(), digest } }
}

fn may_look(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(_) | PrincipalKind::Local => Ok(()),
        PrincipalKind::User(_) => Err(KernelError::NotPermitted("only the admin can look at all skills")),
    }
}

/// Whether a caller may change skills, or name files of this machine.
pub(crate) fn may_change(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => Ok(()),
        PrincipalKind::Admin(AdminProof::ApiKey) | PrincipalKind::Local | PrincipalKind::User(_) => {
            Err(KernelError::NotPermitted("skills can be managed on the command line of the server's machine only"))
        }
    }
}
