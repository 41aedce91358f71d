//! Routes a request to its handler: every route and every unknown path is behind the layers.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::MethodRouter;
use http::Uri;
use openfang_kernel::{Caller, Kernel};
use tower::ServiceExt as _;

use crate::error::ApiError;
use crate::extract::RequestBody;
use crate::layers::{Front, Gate, guard};
use crate::routes::a2a::{A2aDoor, A2aPath};
use crate::routes::{self, Access, Handler, Route};
use crate::server::Peer;

/// The whole HTTP application.
pub(crate) struct App {
    mcp: Option<Gate>,
    gateway: Option<Gate>,
    a2a: Vec<(A2aDoor, Gate)>,
    routed: Router,
    front: Arc<Front>,
}

impl App {
    pub(crate) fn new(front: &Arc<Front>) -> Self {
        let (mut routed, mut mcp, mut gateway, mut a2a) = (Router::new(), None, None, Vec::new());
        for Route { path, methods, access, handler, operations: _ } in routes::table() {
            let gate = Gate { front: Arc::clone(front), access, path, binding: handler.binding() };
            match handler {
                Handler::Mcp => mcp = Some(gate),
                Handler::Gateway => gateway = Some(gate),
                Handler::A2a(door) => a2a.push((door, gate)),
                Handler::Routed(handler) => {
                    let handler = handler.fallback(move || async move { ApiError::wrong_method(methods) });
                    routed = routed.route(path, guarded(gate, handler));
                }
            }
        }
        let known = Arc::clone(front);
        let missing = MethodRouter::new().fallback(move |uri: Uri| async move { no_route(&known, uri.path()) });
        let gate = Gate { front: Arc::clone(front), access: Access::Credential, path: "unknown", binding: None };
        let routed = routed
            .fallback_service(guarded(gate, missing).with_state(front.kernel.clone()))
            .with_state(front.kernel.clone());
        Self { mcp, gateway, a2a, routed, front: Arc::clone(front) }
    }

    pub(crate) async fn answer(
        self: Arc<Self>,
        peer: Peer,
        mut request: http::Request<impl RequestBody>,
    ) -> Result<Response, Infallible> {
        let (path, reach) = (request.uri().path(), &self.front.reach());
        if let Some(gate) = self.mcp.as_ref().filter(|gate| gate.path == path) {
            let endpoint = |request, caller| routes::mcp::endpoint(&gate.front, reach, caller, request);
            return Ok(guard((gate, reach), peer.0, request, endpoint).await);
        }
        if let Some(gate) = self.gateway.as_ref().filter(|_| routes::mcp::server_named(path).is_some()) {
            let gateway = |request, caller| routes::mcp::gateway(&gate.front, reach, caller, request);
            return Ok(guard((gate, reach), peer.0, request, gateway).await);
        }
        let door = A2aPath::of(reach.listen_path(), request.method(), path).map(|place| place.door);
        if let Some((_, gate)) = self.a2a.iter().find(|(known, _)| door == Some(*known)) {
            let a2a = |request, caller| routes::a2a::answer(&gate.front, reach, caller, request);
            return Ok(guard((gate, reach), peer.0, request, a2a).await);
        }
        request.extensions_mut().insert(peer);
        self.routed.clone().oneshot(request.map(Body::new)).await
    }
}

/// The error for an unknown path.
fn no_route(front: &Front, path: &str) -> ApiError {
    routes::a2a::nothing_at(front, path).unwrap_or_else(ApiError::no_such_route)
}

/// The layers as a layer of the router.
fn guarded(gate: Gate, handler: MethodRouter<Kernel>) -> MethodRouter<Kernel> {
    handler.layer(middleware::from_fn(move |request: Request, next: Next| {
        let gate = gate.clone();
        async move {
            // A request without a peer did not come through our accept loop; it counts as remote.
            let peer = request.extensions().get().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer: &Peer| peer.0);
            let run = |mut request: Request, caller: Option<Caller>| {
                if let Some(caller) = caller {
                    request.extensions_mut().insert(caller);
                    request.extensions_mut().insert(Arc::clone(&gate.front));
                }
                next.run(request)
            };
            guard((&gate, &gate.front.reach()), peer, request, run).await
        }
    }))
}

#[cfg(test)]
#[path = "app_tests.rs"]
mod tests;
