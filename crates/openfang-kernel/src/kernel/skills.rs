//! The skills: looking at them, installing, trusting and enabling.

use std::path::Path;

use openfang_types::ids::SkillName;
use openfang_types::limits::SETTINGS_LOOK;
use openfang_types::skills::{SkillAction, SkillDetails, SkillList};

use super::Kernel;
use crate::peers::skill_control::{FetchedSkill, SkillSource, may_change};
use crate::{Caller, KernelError};

impl Kernel {
    /// All skills that there are.
    pub async fn skills(&self, caller: &Caller) -> Result<SkillList, KernelError> {
        self.parts.skills.list(caller).await
    }

    /// Everything about one skill.
    pub async fn skill(&self, caller: &Caller, name: &SkillName) -> Result<SkillDetails, KernelError> {
        self.parts.skills.details(caller, name).await
    }

    /// Everything about a skill that could be installed.
    pub async fn inspect_skill(&self, caller: &Caller, source: SkillSource) -> Result<SkillDetails, KernelError> {
        may_change(caller)?;
        Ok(self.fetch_skill(caller, source).await?.describe())
    }

    /// Installs a skill. With a digest, only if its files have it.
    pub async fn install_skill(
        &self,
        caller: &Caller,
        source: SkillSource,
        digest: Option<&str>,
    ) -> Result<SkillDetails, KernelError> {
        may_change(caller)?;
        let fetched = self.fetch_skill(caller, source).await?;
        self.parts.skills.install(caller, fetched, digest).await
    }

    /// Trusts, enables or disables a skill.
    pub async fn change_skill(
        &self,
        caller: &Caller,
        name: &SkillName,
        action: SkillAction,
    ) -> Result<SkillDetails, KernelError> {
        self.parts.skills.change(caller, name, action).await
    }

    /// Forgets a skill, with its private copy.
    pub async fn remove_skill(&self, caller: &Caller, name: &SkillName) -> Result<(), KernelError> {
        self.parts.skills.remove(caller, name).await
    }

    /// Looks for skills in a project directory from now on, or no more.
    pub async fn set_skill_project(&self, caller: &Caller, path: &Path, is_trusted: bool) -> Result<(), KernelError> {
        self.parts.skills.set_project(caller, path, is_trusted).await
    }

    async fn fetch_skill(&self, caller: &Caller, source: SkillSource) -> Result<FetchedSkill, KernelError> {
        match source {
            SkillSource::Path(path) => self.parts.skills.fetch(path).await,
            SkillSource::Server(server, uri) => self.parts.doors.fetch_skill(caller, &server, &uri).await,
        }
    }

    /// Puts enabled skills into force and out of it, as their files change.
    pub(super) async fn watch_skills(self) {
        let mut due = tokio::time::interval(SETTINGS_LOOK);
        due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            due.tick().await;
            if self.config().reload.watch {
                self.follow_skills().await;
            }
        }
    }

    /// Puts enabled skills into force and out of it, as their files are now.
    pub async fn follow_skills(&self) {
        let skills = std::sync::Arc::clone(self.parts.skills.skills());
        if tokio::task::spawn_blocking(move || skills.follow_if_known()).await.is_err() {
            tracing::error!("the skills were not looked at");
        }
    }
}
