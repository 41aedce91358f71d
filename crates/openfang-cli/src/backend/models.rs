//! Models and their usage, through the daemon or in this process. The keys are those of whoever asks the models.

use openfang_kernel::UsageWanted;
use openfang_types::api::{ModelList, ModelTest, ModelView, UsageView};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use super::Backend;
use crate::error::CliError;

impl Backend {
    pub(crate) async fn models(&self) -> Result<ModelList, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.get("/api/models").await,
            Self::InProcess(here) => here.said(here.kernel.models(&here.caller).await),
        }
    }

    pub(crate) async fn model(&self, reference: &str) -> Result<ModelView, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let model = utf8_percent_encode(reference, NON_ALPHANUMERIC);
                daemon.get(&format!("/api/models/show?model={model}")).await
            }
            Self::InProcess(here) => here.said(here.kernel.model(&here.caller, reference).await),
        }
    }

    pub(crate) async fn test_model(&self, reference: Option<&str>) -> Result<ModelTest, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post("/api/models/test", &json!({ "model": reference })).await,
            Self::InProcess(here) => here.said(here.kernel.test_model(&here.caller, reference).await),
        }
    }

    pub(crate) async fn usage(&self, wanted: UsageWanted) -> Result<UsageView, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let UsageWanted { by, days, is_of_all } = wanted;
                daemon.get(&format!("/api/usage?by={}&days={days}&all={is_of_all}", by.as_str())).await
            }
            Self::InProcess(here) => here.said(here.kernel.usage(&here.caller, wanted).await),
        }
    }
}
