//! Refusals of the HTTP door in words that fit the web tools: their allow-list is `[web] allow`.

use openfang_egress::http::HttpError;
use openfang_egress::url::UrlRefused;

use crate::tools::ToolFailure;

/// Why a URL is not fetched.
pub(crate) fn of_url(refused: &UrlRefused) -> ToolFailure {
    match refused {
        UrlRefused::Port { host, port } => {
            let why = "port {port} of {host} is closed to this tool; add \"{host}:{port}\" to [web] allow if this is intended";
            ToolFailure::new(why.replace("{host}", host).replace("{port}", &port.to_string()))
        }
        UrlRefused::OutOfReach { host, special } => ToolFailure::new(format!(
            "{host} is {special}; this tool reaches public addresses and those in [web] allow"
        )),
        UrlRefused::TooLong { .. }
        | UrlRefused::Malformed { .. }
        | UrlRefused::Spelling
        | UrlRefused::Scheme
        | UrlRefused::Credentials
        | UrlRefused::NoHost => ToolFailure::new(refused.to_string()),
    }
}

/// Why a request was not answered.
pub(crate) fn of_request(error: &HttpError) -> ToolFailure {
    if let HttpError::RedirectRefused { from, cause } = error {
        return ToolFailure::new(format!("{from} redirects to where this tool does not go: {}", of_url(cause)));
    }
    ToolFailure::new(error.to_string())
}
