//! Skills, through the daemon or in this process.

use std::path::Path;

use http::Method;
use openfang_kernel::KernelError;
use openfang_kernel::skill_control::SkillSource;
use openfang_types::ids::SkillName;
use openfang_types::skills::{SkillAction, SkillDetails, SkillList};
use serde::de::IgnoredAny;
use serde_json::json;

use super::Backend;
use crate::error::CliError;

impl Backend {
    pub(crate) async fn skills(&self) -> Result<SkillList, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.get("/api/skills").await,
            Self::InProcess(here) => here.said(here.kernel.skills(&here.caller).await),
        }
    }

    pub(crate) async fn skill(&self, name: &SkillName) -> Result<SkillDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.get(&format!("/api/skills/{name}")).await,
            Self::InProcess(here) => here.said(here.kernel.skill(&here.caller, name).await),
        }
    }

    /// Reads a skill that could be installed.
    pub(crate) async fn inspect_skill(&self, source: &str) -> Result<SkillDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post("/api/skills", &json!({ "source": source, "dryRun": true })).await,
            Self::InProcess(here) => {
                here.acquaint().await;
                let source = here.said(SkillSource::parse(source).map_err(KernelError::from))?;
                here.said(here.kernel.inspect_skill(&here.caller, source).await)
            }
        }
    }

    /// Installs a skill whose files have this digest.
    pub(crate) async fn install_skill(&self, source: &str, digest: &str) -> Result<SkillDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post("/api/skills", &json!({ "source": source, "digest": digest })).await,
            Self::InProcess(here) => {
                let source = here.said(SkillSource::parse(source).map_err(KernelError::from))?;
                here.said(here.kernel.install_skill(&here.caller, source, Some(digest)).await)
            }
        }
    }

    pub(crate) async fn change_skill(&self, name: &SkillName, action: SkillAction) -> Result<SkillDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post(&format!("/api/skills/{name}/change"), &json!(action)).await,
            Self::InProcess(here) => here.said(here.kernel.change_skill(&here.caller, name, action).await),
        }
    }

    pub(crate) async fn remove_skill(&self, name: &SkillName) -> Result<(), CliError> {
        match self {
            Self::Daemon(daemon) => {
                let path = format!("/api/skills/{name}");
                daemon.ask::<IgnoredAny>(Method::DELETE, &path, None).await.map(drop)
            }
            Self::InProcess(here) => here.said(here.kernel.remove_skill(&here.caller, name).await),
        }
    }

    /// Looks for skills in a project directory from now on, or no more.
    pub(crate) async fn set_skill_project(&self, path: &Path, is_trusted: bool) -> Result<(), CliError> {
        match self {
            Self::Daemon(daemon) => {
                let body = json!({ "path": path, "trusted": is_trusted });
                daemon.post::<IgnoredAny>("/api/skill-projects", &body).await.map(drop)
            }
            Self::InProcess(here) => here.said(here.kernel.set_skill_project(&here.caller, path, is_trusted).await),
        }
    }
}
