//! The way of tools to the web: the door of the settings in force.

use std::sync::{Arc, OnceLock, Weak};

use openfang_egress::http::HttpDoor;
use openfang_runtime::web::Web;

use crate::settings::LiveSettings;

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
}

impl Web for WebAccess {
    fn door(&self) -> Result<HttpDoor, String> {
        let settings = self.settings.get().and_then(Weak::upgrade);
        let settings = settings.ok_or_else(|| "the server is starting or stopping; try again".to_owned())?;
        Ok(settings.current().web().clone())
    }
}
