//! The HTTP clients: for each reach one for https and one for plain http, built on first use. Trust roots cost memory
//! and time, and a machine may have none, so the plain clients do without. No client follows redirects, reads proxies
//! from the environment, stores cookies or retries by itself.

use std::net::IpAddr;
use std::sync::Arc;

use openfang_types::limits::{
    HTTP_ANSWER_HEADER_BYTES, HTTP_ANSWER_HEADERS, HTTP_POOL_IDLE, HTTP_POOL_PER_ORIGIN, HTTP2_CONNECTION_WINDOW,
    HTTP2_STREAM_WINDOW,
};
use reqwest::tls::Version;
use reqwest::{Certificate, Client, ClientBuilder};
use tokio::sync::OnceCell;

use super::dial::DialLayer;
use super::metrics::HttpMetrics;
use super::proxy::OperatorProxy;
use super::request::Target;
use super::{HttpConfig, HttpError};
use crate::resolve::{BoxError, Guarded, NoAddress, Resolve};
use crate::url::{Guard, Reach};

/// An extra trust root is not a PEM certificate.
#[derive(Debug, thiserror::Error)]
#[error("the extra trust roots are not PEM certificates; check the files in the config")]
pub struct BadRoots;

/// The settings of the clients, and the clients built so far.
pub(super) struct Clients {
    pub(super) guard: Guard,
    resolver: Arc<dyn Resolve>,
    roots: Vec<Certificate>,
    proxy: Option<OperatorProxy>,
    user_agent: String,
    metrics: HttpMetrics,
    operator: PerScheme,
    foreign: PerScheme,
}

#[derive(Default)]
struct PerScheme {
    http: OnceCell<Client>,
    https: OnceCell<Client>,
}

impl Clients {
    pub(super) fn new(config: HttpConfig) -> Result<Self, BadRoots> {
        let mut roots = Vec::new();
        for pem in &config.extra_roots {
            let found = Certificate::from_pem_bundle(pem).map_err(|_| BadRoots)?;
            if found.is_empty() {
                return Err(BadRoots);
            }
            roots.extend(found);
        }
        Ok(Self {
            guard: config.guard,
            resolver: config.resolver,
            roots,
            proxy: config.proxy,
            user_agent: config.user_agent,
            metrics: config.metrics,
            operator: PerScheme::default(),
            foreign: PerScheme::default(),
        })
    }

    /// The client for a target.
    pub(super) async fn of(&self, target: &Target) -> Result<&Client, HttpError> {
        let reach = target.reach();
        let clients = match reach {
            Reach::Operator => &self.operator,
            Reach::Foreign => &self.foreign,
        };
        let client = if target.origin().is_https() {
            let build = || async { self.common(reach).tls_certs_merge(self.roots.clone()).build() };
            clients.https.get_or_try_init(build).await
        } else {
            let build = || async { self.common(reach).tls_certs_only([]).build() };
            clients.http.get_or_try_init(build).await
        };
        client.map_err(|cause| HttpError::Setup { cause })
    }

    /// The addresses of a target that may be dialled.
    pub(super) async fn resolve(&self, target: &Target) -> Result<Vec<IpAddr>, BoxError> {
        match target.url().host() {
            Some(url::Host::Ipv4(address)) => Ok(vec![address.into()]),
            Some(url::Host::Ipv6(address)) => Ok(vec![address.into()]),
            Some(url::Host::Domain(name)) => self.guarded(target.reach()).addresses(name).await,
            None => Err(NoAddress.into()),
        }
    }

    fn guarded(&self, reach: Reach) -> Guarded {
        Guarded { resolver: Arc::clone(&self.resolver), guard: self.guard.clone(), reach }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place where a client is made, behind the guard")]
    fn common(&self, reach: Reach) -> ClientBuilder {
        let builder = Client::builder().no_proxy();
        let builder = match (&self.proxy, reach) {
            (Some(proxy), Reach::Operator) => builder.proxy(proxy.to_reqwest()),
            (Some(_), Reach::Foreign) | (None, _) => builder,
        };
        builder
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .dns_resolver(Arc::new(self.guarded(reach)))
            .connector_layer(DialLayer { metrics: self.metrics.clone() })
            .user_agent(&self.user_agent)
            .tls_version_min(Version::TLS_1_2)
            .http1_max_headers(HTTP_ANSWER_HEADERS)
            .http2_max_header_list_size(HTTP_ANSWER_HEADER_BYTES)
            .http2_initial_stream_window_size(HTTP2_STREAM_WINDOW)
            .http2_initial_connection_window_size(HTTP2_CONNECTION_WINDOW)
            .pool_idle_timeout(HTTP_POOL_IDLE)
            .pool_max_idle_per_host(HTTP_POOL_PER_ORIGIN)
            .tcp_nodelay(true)
    }
}
