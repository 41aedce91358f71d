//! `/api/skills`: what skills there are, and what is done to them. Changes are for the operator of this machine only, which the
//! kernel enforces.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use openfang_kernel::skill_control::SkillSource;
use openfang_kernel::{Kernel, KernelError};
use openfang_types::ids::SkillName;
use openfang_types::skills::{SkillAction, SkillDetails, SkillList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, RequestCaller};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct InstallBody {
    /// `mcp:SERVER/URI`, or the absolute path of a directory or a zip archive on this machine.
    source: String,
    /// Whether the skill is only read and shown.
    #[serde(default)]
    dry_run: bool,
    /// The digest of the files that were shown; with other files nothing is installed.
    #[serde(default)]
    digest: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectBody {
    /// The absolute path of a directory on this machine.
    path: PathBuf,
    /// Whether skills are looked for there.
    trusted: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Removed {
    removed: SkillName,
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Json<SkillList>, ApiError> {
    Ok(Json(kernel.skills(&caller).await?))
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<SkillName>,
) -> Result<Json<SkillDetails>, ApiError> {
    Ok(Json(kernel.skill(&caller, &name).await?))
}

pub(super) async fn install(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(InstallBody { source, dry_run, digest }): JsonBody<InstallBody>,
) -> Result<Json<SkillDetails>, ApiError> {
    let source = SkillSource::parse(&source).map_err(KernelError::from)?;
    Ok(Json(match dry_run {
        true => kernel.inspect_skill(&caller, source).await?,
        false => kernel.install_skill(&caller, source, digest.as_deref()).await?,
    }))
}

pub(super) async fn change(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<SkillName>,
    JsonBody(action): JsonBody<SkillAction>,
) -> Result<Json<SkillDetails>, ApiError> {
    Ok(Json(kernel.change_skill(&caller, &name, action).await?))
}

pub(super) async fn remove(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<SkillName>,
) -> Result<Json<Removed>, ApiError> {
    kernel.remove_skill(&caller, &name).await?;
    Ok(Json(Removed { removed: name }))
}

pub(super) async fn set_project(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(ProjectBody { path, trusted }): JsonBody<ProjectBody>,
) -> Result<Json<SkillList>, ApiError> {
    kernel.set_skill_project(&caller, &path, trusted).await?;
    Ok(Json(kernel.skills(&caller).await?))
}
