//! The way of tools to the web: the door of the settings in force.

use std::sync::{Arc, OnceLock, Weak};

use openfang_egress::http::HttpDoor;
use openfang_runtime::web::Web;
use openfang_types::config::{SearchConfig, SearchProvider};
use openfang_types::secret::Secret;

use crate::settings::LiveSettings;
use crate::settings::config_file::common_variable;

/// Finds the door. The tools are made before the settings are.
#[derive(Default)]
pub(crate) struct WebAccess {
    settings: OnceLock<Weak<LiveSettings>>,
}

impl WebAccess {
    /// Goes by these settings from now on.
    pub(crate) fn open(&self, settings: &Arc<LiveSettings>) {
        // A kernel is put together once.
        let _ = self.settings.set(Arc::downgrade(settings));
    }

    fn settings(&self) -> Result<Arc<LiveSettings>, String> {
        let settings = self.settings.get().and_then(Weak::upgrade);
        settings.ok_or_else(|| "the server is starting or stopping; try again".to_owned())
    }
}

/// The keys of search providers, which must not travel.
pub(crate) fn search_keys() -> Vec<Secret> {
    let variables = SearchConfig::default().providers.into_iter().filter_map(SearchProvider::key_variable);
    variables.filter_map(common_variable).map(Secret::new).collect()
}

impl Web for WebAccess {
    fn door(&self) -> Result<HttpDoor, String> {
        Ok(self.settings()?.current().web().clone())
    }

    fn operator_door(&self) -> Result<HttpDoor, String> {
        Ok(self.settings()?.current().http().clone())
    }

    fn search_key(&self, variable: &str) -> Option<Secret> {
        common_variable(variable).map(Secret::new)
    }
}
