//! The checks every request passes before its handler. [`guard`] defines their order, with the reasons; each check is a
//! file.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use axum::body::HttpBody;
use axum::response::Response;
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use openfang_kernel::gateway::Gateways;
use openfang_kernel::mcp::{McpServer, McpViews, View};
use openfang_kernel::{Arrival, Caller, Kernel};
use openfang_types::ids::{Owner, TraceId};
use openfang_types::limits::RATE_LIMIT_SWEEP;
use openfang_types::trace::{TRACEPARENT, TRACESTATE};
use tokio_util::sync::{CancellationToken, PollSemaphore};

use crate::error::ApiError;
use crate::routes::Access;
use crate::routes::a2a::A2aBinding;
use inflight::Inflight;
use lane::OffWorker;
use metrics::HttpMetrics;

pub(crate) use cookie::LoginCookie;
pub(crate) use inflight::Load;
pub(crate) use logins::Attempt;
use peer::ClientAddress;
pub(crate) use peer::network_of;
use reach::CurrentReach;
pub(crate) use reach::Reach;

mod auth;
mod cookie;
mod cors;
mod csrf;
mod host;
mod inflight;
mod lane;
mod logins;
mod metrics;
mod peer;
mod rate;
mod reach;
mod size;

/// Part of every response, so that a report can be matched with the log.
pub(crate) const TRACE_HEADER: HeaderName = HeaderName::from_static("x-trace-id");

/// The shared state of the layers, one per server.
pub(crate) struct Front {
    pub(crate) kernel: Kernel,
    pub(crate) mcp: McpServer,
    /// The same for clients that want to see less.
    pub(crate) mcp_views: McpViews,
    pub(crate) gateways: Arc<Gateways>,
    /// Where this server listens.
    address: IpAddr,
    reach: CurrentReach,
    logins: logins::Logins,
    inflight: Arc<Inflight>,
    /// Limits the large requests and answers processed off the workers.
    turns: PollSemaphore,
    metrics: HttpMetrics,
}

/// The settings of the layers, one per route.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) front: Arc<Front>,
    pub(crate) access: Access,
    pub(crate) path: &'static str,
    /// The A2A binding of the route, if any. Refusals use its format.
    pub(crate) binding: Option<A2aBinding>,
}

/// The client of a public route: its address and its request.
#[derive(Clone)]
pub(crate) struct Stranger {
    front: Arc<Front>,
    peer: ClientAddress,
    /// The user of the session cookie, if there is one.
    session: Option<Owner>,
    pub(crate) trace: TraceId,
}

impl Stranger {
    /// Charges a login attempt before any work is done for it.
    pub(crate) fn tries_to_log_in(&self, name: &str) -> Result<Attempt, ApiError> {
        self.front.reach().rates().not_locked_out(self.peer)?;
        let has_session = self.session.as_ref().is_some_and(|owner| owner.as_str() == name);
        self.front.logins.charge(self.peer, name, has_session).map_err(ApiError::too_many)
    }

    /// Refunds an attempt whose password was not checked.
    pub(crate) fn was_turned_away(&self, attempt: &Attempt) {
        self.front.logins.was_not_tried(attempt);
    }

    /// Refunds a successful attempt.
    pub(crate) fn logged_in(&self, attempt: &Attempt) {
        self.front.logins.was_right(attempt);
    }
}

impl Front {
    pub(crate) fn new(kernel: Kernel, address: SocketAddr) -> Self {
        let config = kernel.config();
        let reach = CurrentReach::new(&kernel, address);
        let logins = logins::Logins::new(&config.limits);
        let inflight = Inflight::new(&config.limits);
        let metrics = kernel.register_metrics(HttpMetrics::register);
        let mcp = kernel.mcp_server(View::Everything);
        let mcp_views = McpViews::new(&kernel);
        let gateways = Arc::new(Gateways::new(&kernel));
        Self {
            reach,
            logins,
            inflight,
            turns: lane::turns(),
            metrics,
            mcp,
            mcp_views,
            gateways,
            address: address.ip().to_canonical(),
            kernel,
        }
    }

    /// The state for the current configuration. A request takes it once.
    pub(crate) fn reach(&self) -> Arc<Reach> {
        let (reach, is_new) = self.reach.get(&self.kernel);
        if is_new {
            self.logins.follow(&reach.config().limits);
            self.inflight.follow(&reach.config().limits);
        }
        reach
    }

    /// Evicts idle peers and principals, because the maps would grow forever otherwise.
    pub(crate) async fn forget_idle_peers(&self, stop: CancellationToken) {
        let mut due = tokio::time::interval(RATE_LIMIT_SWEEP);
        while stop.run_until_cancelled(due.tick()).await.is_some() {
            self.reach().rates().forget_idle();
            self.logins.forget_idle();
        }
    }
}

/// Runs the layers. The handler gets the request and, on routes with a credential, its caller.
pub(crate) async fn guard<B, F>(
    (gate, reach): (&Gate, &Reach),
    socket: IpAddr,
    mut request: Request<B>,
    next: impl FnOnce(Request<B>, Option<Caller>) -> F,
) -> Response
where
    B: HttpBody,
    F: Future<Output = Response> + Send,
{
    let arrival = arrival(gate, request.headers());
    let trace = arrival.trace;
    let method = request.method().clone();
    let begun = tokio::time::Instant::now();
    let page = reach.hosts().page(&request);
    let is_logged = reach.config().log.requests;
    let who = std::sync::OnceLock::new();
    // Outermost, so that refused requests are counted and traced too. A panic in a handler becomes a 500. Pinned in
    // place: a wrapper around the future would be another copy of it.
    let answer = pin!(async {
        match checked(gate, reach, (socket, arrival), &request) {
            Ok(GuardVerdict::On(mut caller)) => {
                if is_logged {
                    let _ = who.set((Arc::clone(&caller.principal), caller.door));
                }
                let (inflight, principal) = (&gate.front.inflight, Arc::clone(&caller.principal));
                // A client that does not read its answers gets no more of them.
                inflight.admit(principal.owner())?;
                let room = inflight.room(&principal);
                caller.room = Some(Arc::clone(&room) as _);
                let load = inflight::may_count(request.body()).then(|| inflight.load(principal.owner()));
                if let Some(load) = &load {
                    request.extensions_mut().insert(Arc::clone(load));
                }
                let (work, turns) = (pin!(next(request, Some(caller))), gate.front.turns.clone());
                let answer = OffWorker::new(work, load.as_deref(), &room, turns).await;
                Ok(inflight::counted(answer, room, load, &gate.front.turns))
            }
            Ok(GuardVerdict::Stranger(peer)) => {
                let session = auth::session(&gate.front, &request);
                let stranger = Stranger { front: Arc::clone(&gate.front), peer, session, trace };
                request.extensions_mut().insert(stranger);
                Ok(next(request, None).await)
            }
            Ok(GuardVerdict::Answered(response)) => Ok(response),
            Err(error) => Err(error),
        }
    });
    let mut response = match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(Ok(mut response)) => match response.extensions_mut().remove::<ApiError>() {
            Some(error) => error.render(trace, gate.binding),
            None => response,
        },
        Ok(Err(error)) => error.render(trace, gate.binding),
        Err(_panic) => {
            tracing::error!(%trace, path = gate.path, "a handler panicked");
            ApiError::broken().render(trace, gate.binding)
        }
    };
    if let Some(origin) = page {
        cors::allow(origin, &mut response);
    }
    gate.front.metrics.count(gate.path, &method, response.status(), begun.elapsed());
    let status = response.status().as_u16();
    if is_logged {
        let (caller, door) = who.get().map_or(("nobody", ""), |(who, door)| (who.owner().as_str(), door.as_str()));
        let ms = begun.elapsed().as_millis();
        tracing::info!(%trace, caller, door, %method, path = gate.path, status, ms, "request");
    } else {
        tracing::debug!(%trace, %method, path = gate.path, status, "answered");
    }
    let mut written = [0; 36];
    if let Ok(value) = HeaderValue::from_str(trace.as_uuid().as_hyphenated().encode_lower(&mut written)) {
        response.headers_mut().insert(TRACE_HEADER, value);
    }
    response
}

/// The place of a request in its trace.
fn arrival(gate: &Gate, headers: &HeaderMap) -> Arrival {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    gate.front.kernel.arrival(text(TRACEPARENT), text(TRACESTATE))
}

/// The result of the checks.
enum GuardVerdict {
    /// An authenticated caller, for the handler.
    On(Caller),
    /// A client of a public route.
    Stranger(ClientAddress),
    /// A request that the layers answer themselves.
    Answered(Response),
}

fn checked<B>(
    gate: &Gate,
    reach: &Reach,
    (socket, arrival): (IpAddr, Arrival),
    request: &Request<B>,
) -> Result<GuardVerdict, ApiError> {
    let front = &gate.front;
    let (config, rates) = (reach.config(), reach.rates());
    // First, because a page of another site must not learn whether a credential is right.
    reach.hosts().check(request)?;
    // Before the credential check, because a preflight request carries none.
    if let Some(answer) = cors::preflight(request) {
        return Ok(GuardVerdict::Answered(answer));
    }
    // An unauthenticated client cannot make us read. Over HTTP/1 the parser has already counted the headers.
    size::check_headers(request, config.limits.headers)?;
    size::check(request, config.limits.body_bytes)?;
    let peer = ClientAddress::of(socket, request.headers(), config);
    // Before the credential check, so that guessing is charged too.
    rates.admit_peer(peer)?;
    match gate.access {
        Access::Public => Ok(GuardVerdict::Stranger(peer)),
        Access::Known if !auth::is_presented(front, request) => Ok(GuardVerdict::Stranger(peer)),
        access @ (Access::Known | Access::Credential | Access::Admin) => {
            let principal = auth::check(front, rates, request, peer)?;
            // After the credential check, so that each principal has its own limit.
            rates.admit_principal(&principal)?;
            auth::may_enter(&principal, access)?;
            let door = auth::door_of(&principal, request);
            Ok(GuardVerdict::On(front.kernel.arrived(principal, door, arrival)))
        }
    }
}
