//! The credential. A handler behind this layer may assume a caller.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderName, Request};
use openfang_kernel::{AuthError, KernelError, PeerKind};
use openfang_types::ids::Owner;
use openfang_types::principal::{AdminProof, Door, Principal, Standing};

use super::cookie::LoginCookie;
use super::peer::ClientAddress;
use super::rate::Rates;
use super::{Front, csrf};
use crate::error::ApiError;
use crate::routes::Access;

/// How a client with the daemon token says which door it is.
const DOOR_HEADER: HeaderName = HeaderName::from_static("x-openfang-door");

/// Who is calling.
pub(super) fn check<B>(
    front: &Front,
    rates: &Rates,
    request: &Request<B>,
    peer: ClientAddress,
) -> Result<Arc<Principal>, ApiError> {
    let kind = if peer.is_here(front.address) { PeerKind::Loopback } else { PeerKind::Remote };
    let outcome = match presented(request) {
        Presented::Nothing => match LoginCookie::of(&front.kernel.config()).read(request.headers()) {
            Some(cookie) => logged_in(front, request, cookie, kind)?,
            None => front.kernel.authenticate(None, kind),
        },
        Presented::Token(token) => front.kernel.authenticate(Some(token), kind),
        Presented::Nonsense => Err(AuthError::Invalid),
    };
    let is_daemon = outcome
        .as_ref()
        .is_ok_and(|who| *who.standing() == Standing::Admin(AdminProof::DaemonToken));
    match outcome {
        // The daemon token cannot be guessed, so nobody else's guessing locks the command line out.
        Ok(principal) if is_daemon => Ok(principal),
        Ok(principal) => rates.not_locked_out(peer).map(|()| principal),
        // Not charged: an old cookie is what every browser sends that was left alone for long, and none can be guessed.
        Err(error @ (AuthError::Missing | AuthError::Ended)) => Err(ApiError::unauthorized(error)),
        Err(AuthError::Invalid) => {
            rates.charge_failure(peer)?;
            Err(ApiError::unauthorized(AuthError::Invalid))
        }
    }
}

/// Whether a route is for this principal at all.
pub(super) fn may_enter(principal: &Principal, access: Access) -> Result<(), ApiError> {
    match (access, principal.standing()) {
        (Access::Admin, Standing::User(_)) => Err(KernelError::NotPermitted("only the admin can do this").into()),
        (Access::Admin, Standing::Admin(_) | Standing::Local)
        | (Access::Public | Access::Known | Access::Credential, _) => Ok(()),
    }
}

/// Whether there is anything to be known by. An old cookie is as good as none.
pub(super) fn is_presented<B>(front: &Front, request: &Request<B>) -> bool {
    match presented(request) {
        Presented::Token(_) | Presented::Nonsense => true,
        Presented::Nothing => LoginCookie::of(&front.kernel.config())
            .read(request.headers())
            .is_some_and(|cookie| front.kernel.recognise(cookie).is_ok()),
    }
}

/// Whose login the cookie is of, if there is one.
pub(super) fn session<B>(front: &Front, request: &Request<B>) -> Option<Owner> {
    let cookie = LoginCookie::of(&front.kernel.config()).read(request.headers())?;
    front.kernel.recognise(cookie).ok().map(|who| who.owner().clone())
}

/// Who comes with a cookie. An old one is as good as none.
fn logged_in<B>(
    front: &Front,
    request: &Request<B>,
    cookie: &str,
    kind: PeerKind,
) -> Result<Result<Arc<Principal>, AuthError>, ApiError> {
    let recognised = front.kernel.recognise(cookie);
    if recognised.is_ok() {
        // A browser adds the cookie to whatever any page makes it send.
        csrf::check(request)?;
    }
    Ok(recognised.or_else(|ended| front.kernel.authenticate(None, kind).map_err(|_| ended)))
}

enum Presented<'a> {
    Nothing,
    Token(&'a str),
    Nonsense,
}

/// Exactly one `Authorization: Bearer <token>`; a token in the query string is never looked at.
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

/// The door decides the first label. Only who holds the daemon token may name one.
pub(super) fn door_of<B>(principal: &Principal, request: &Request<B>) -> Door {
    match principal.standing() {
        Standing::Admin(AdminProof::DaemonToken) => {
            let named = request.headers().get(DOOR_HEADER).and_then(|door| door.to_str().ok());
            let named = [Door::Cli, Door::Mcp].into_iter().find(|door| named == Some(door.as_str()));
            named.unwrap_or(Door::Rest)
        }
        Standing::Admin(_) | Standing::Local | Standing::User(_) => Door::Rest,
    }
}
