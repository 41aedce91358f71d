//! Where an agent may be asked, and with which headers. No request leaves for an origin that is not listed here, so no
//! credential can.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use openfang_egress::http::{HttpDoor, Redirects, Target};
use openfang_egress::url::{Origin, Reach, UrlRefused};
use openfang_types::redact::Redactor;

use super::settings::{RemoteSettings, SettingsError};

/// The header that names the version of A2A.
pub(super) const VERSION: HeaderName = HeaderName::from_static("a2a-version");
pub(super) const EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
/// The name of [`EXTENSIONS`] before 1.0.
pub(super) const OLD_EXTENSIONS: HeaderName = HeaderName::from_static("x-a2a-extensions");
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!(
    "OpenFang/",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR"),
    " A2A"
));

/// Headers that the protocol or the transport sets.
const RESERVED: [HeaderName; 15] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::USER_AGENT,
    VERSION,
    EXTENSIONS,
    OLD_EXTENSIONS,
    LAST_EVENT_ID,
];

/// The origins of an agent and the credentials for them.
pub(super) struct Site {
    pub(super) door: HttpDoor,
    pub(super) base: url::Url,
    pub(super) endpoint: Option<String>,
    pub(super) timeout: Duration,
    reach: Reach,
    /// What is followed when a card is looked for.
    pub(super) redirects: Redirects,
    /// The origin of the base URL first.
    allowed: Vec<Origin>,
    credentials: HeaderMap,
    pub(super) redactor: Arc<Redactor>,
}

/// Why a URL in a card or a redirect is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotAllowed {
    #[error(transparent)]
    Refused(#[from] UrlRefused),
    #[error("{0} is not an allowed origin")]
    Origin(Origin),
}

impl Site {
    pub(super) fn new(door: HttpDoor, settings: &RemoteSettings) -> Result<Self, SettingsError> {
        let named =
            |key, text: &str| checked(&door, settings.reach, text).map_err(|cause| SettingsError::Url { key, cause });
        let base = named("url", &settings.url)?;
        let mut allowed = vec![base.origin()];
        if let Some(endpoint) = &settings.endpoint {
            allowed.push(named("endpoint", endpoint)?.origin());
        }
        for origin in &settings.origins {
            allowed.push(named("origins", origin)?.origin());
        }
        let mut credentials = HeaderMap::with_capacity(settings.headers.len());
        for (name, value) in &settings.headers {
            if RESERVED.contains(name) {
                return Err(SettingsError::Header(name.clone()));
            }
            let mut value = value.clone();
            value.set_sensitive(true);
            credentials.append(name.clone(), value);
        }
        let base = match &base {
            Target::Operator(url) => url::Url::parse(url.as_str()),
            Target::Foreign(url) => url::Url::parse(url.as_str()),
        };
        let base = base.map_err(|why| SettingsError::Url { key: "url", cause: UrlRefused::Malformed { why } })?;
        let redactor = settings.redactor.with(secrets(&credentials)).map_err(|_| SettingsError::Secrets)?;
        let redactor = Arc::new(redactor);
        let (endpoint, timeout, reach) = (settings.endpoint.clone(), settings.timeout, settings.reach);
        let redirects = if settings.redirects { Redirects::Any } else { Redirects::None };
        Ok(Self { door, base, endpoint, timeout, reach, redirects, allowed, credentials, redactor })
    }

    /// The origin of the base URL.
    pub(super) fn home(&self) -> Option<&Origin> {
        self.allowed.first()
    }

    /// A URL at one of the allowed origins.
    pub(super) fn target(&self, url: &str) -> Result<Target, NotAllowed> {
        let target = checked(&self.door, self.reach, url)?;
        let origin = target.origin();
        if self.allows(&origin) { Ok(target) } else { Err(NotAllowed::Origin(origin)) }
    }

    /// Whether requests may go to this origin: it is listed, or it is a listed host with encryption added.
    pub(super) fn allows(&self, origin: &Origin) -> bool {
        let upgrades = |from: &Origin| {
            let is_usual = !from.is_https() && from.port() == 80 && origin.is_https() && origin.port() == 443;
            is_usual && from.host() == origin.host()
        };
        self.allowed.iter().any(|allowed| allowed == origin || upgrades(allowed))
    }

    /// The origin of any URL, for comparison. The URL is not contacted.
    pub(super) fn origin_of(&self, url: &str) -> Result<Origin, UrlRefused> {
        checked(&self.door, Reach::Operator, url).map(|target| target.origin())
    }

    pub(super) fn has_credentials(&self) -> bool {
        !self.credentials.is_empty()
    }

    /// The headers of every request: who asks, and the credentials.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = self.credentials.clone();
        headers.insert(header::USER_AGENT, USER_AGENT);
        headers
    }
}

fn checked(door: &HttpDoor, reach: Reach, url: &str) -> Result<Target, UrlRefused> {
    match reach {
        Reach::Operator => door.guard().operator(url).map(Target::from),
        Reach::Foreign => door.guard().foreign(url).map(Target::from),
    }
}

/// The values of credentials, whole and without their scheme.
fn secrets(credentials: &HeaderMap) -> Vec<String> {
    let values = credentials.values().filter_map(|value| value.to_str().ok());
    let forms = values.flat_map(|value| [Some(value), value.split_once(' ').map(|(_, token)| token.trim())]);
    forms.flatten().map(str::to_owned).collect()
}
