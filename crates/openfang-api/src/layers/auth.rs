//! The credential check. A handler behind this layer always has a caller.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderName, Request};
use openfang_kernel::{AuthError, KernelError, PeerKind};
use openfang_types::ids::Owner;
use openfang_types::principal::{AdminProof, Door, Principal, PrincipalKind};

use super::cookie::LoginCookie;
use super::peer::ClientAddress;
use super::rate::Rates;
use super::{Front, csrf};
use crate::error::ApiError;
use crate::routes::Access;

/// How a client with the daemon token states its entry point.
const DOOR_HEADER: HeaderName = HeaderName::from_static("x-openfang-door");

pub(super) fn check<B>(
    front: &Front,
    rates: &Rates,
    request: &Request<B>,
    peer: ClientAddress,
) -> Result<Arc<Principal>, ApiError> {
    let kind_of = |is_here| if is_here { PeerKind::Loopback } else { PeerKind::Remote };
    let kind = kind_of(peer.is_here(front.address));
    let outcome = match presented(request) {
        Presented::Nothing => match LoginCookie::of(&front.kernel.config()).read(request.headers()) {
            Some(cookie) => logged_in(front, request, cookie, kind)?,
            None => front.kernel.authenticate(None, kind),
        },
        Presented::Token(token) => {
            let kind = kind_of(peer.may_prove_this_machine(request.headers(), front.address));
            front.kernel.authenticate(Some(token), kind)
        }
        Presented::Nonsense => Err(AuthError::Invalid),
    };
    let is_daemon = outcome
        .as_ref()
        .is_ok_and(|who| *who.standing() == PrincipalKind::Admin(AdminProof::DaemonToken));
    match outcome {
        // The daemon token cannot be guessed, so guessing by others does not lock out the command line.
        Ok(principal) if is_daemon => Ok(principal),
        Ok(principal) => rates.not_locked_out(peer).map(|()| principal),
        // Not charged: browsers send expired cookies after a long pause, and a cookie cannot be guessed.
        Err(error @ (AuthError::Missing | AuthError::Ended)) => Err(ApiError::unauthorized(error)),
        Err(AuthError::Invalid) => {
            rates.charge_failure(peer)?;
            Err(ApiError::unauthorized(AuthError::Invalid))
        }
    }
}

/// Whether the route is open to this principal.
pub(super) fn may_enter(principal: &Principal, access: Access) -> Result<(), ApiError> {
    match (access, principal.standing()) {
        (Access::Admin, PrincipalKind::User(_)) => Err(KernelError::NotPermitted("only the admin can do this").into()),
        (Access::Admin, PrincipalKind::Admin(_) | PrincipalKind::Local)
        | (Access::Public | Access::Known | Access::Credential, _) => Ok(()),
    }
}

/// Whether the request has a credential. An expired cookie counts as none.
pub(super) fn is_presented<B>(front: &Front, request: &Request<B>) -> bool {
    match presented(request) {
        Presented::Token(_) | Presented::Nonsense => true,
        Presented::Nothing => LoginCookie::of(&front.kernel.config())
            .read(request.headers())
            .is_some_and(|cookie| front.kernel.recognise(cookie).is_ok()),
    }
}

/// The user of the session cookie, if there is one.
pub(super) fn session<B>(front: &Front, request: &Request<B>) -> Option<Owner> {
    let cookie = LoginCookie::of(&front.kernel.config()).read(request.headers())?;
    front.kernel.recognise(cookie).ok().map(|who| who.owner().clone())
}

/// The caller of a session cookie. An expired cookie counts as none.
fn logged_in<B>(
    front: &Front,
    request: &Request<B>,
    cookie: &str,
    kind: PeerKind,
) -> Result<Result<Arc<Principal>, AuthError>, ApiError> {
    let recognised = front.kernel.recognise(cookie);
    if recognised.is_ok() {
        // A browser sends the cookie with every request, whichever page causes it.
        csrf::check(request)?;
    }
    Ok(recognised.or_else(|ended| front.kernel.authenticate(None, kind).map_err(|_| ended)))
}

enum Presented<'a> {
    Nothing,
    Token(&'a str),
    Nonsense,
}

/// Exactly one `Authorization: Bearer <token>`. A token in the query string is ignored.
fn presented<B>(request: &Request<B>) -> Presented<'_> {
    let mut headers = request.headers().get_all(AUTHORIZATION).iter();
    let header = match (headers.next(), headers.next()) {
        (None, _) => return Presented::Nothing,
        (Some(header), None) => header,
        (Some(_), Some(_)) => return Presented::Nonsense,
    };
    let token = header.to_str().ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    token.map_or(Presented::Nonsense, Presented::Token)
}

/// The entry point determines the first label. Only a client with the daemon token may state one.
pub(super) fn door_of<B>(principal: &Principal, request: &Request<B>) -> Door {
    match principal.standing() {
        PrincipalKind::Admin(AdminProof::DaemonToken) => {
            let named = request.headers().get(DOOR_HEADER).and_then(|door| door.to_str().ok());
            let named = [Door::Cli, Door::Mcp].into_iter().find(|door| named == Some(door.as_str()));
            named.unwrap_or(Door::Rest)
        }
        PrincipalKind::Admin(_) | PrincipalKind::Local | PrincipalKind::User(_) => Door::Rest,
    }
}
