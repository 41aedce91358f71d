//! Maps the errors of the HTTP client to ours. The chain of causes is searched; texts about paths, headers or
//! certificates are dropped.

use std::error::Error;
use std::io;

use rustls::CertificateError;

use super::dial::DialTimedOut;
use super::error::{HttpError, Interruption, TlsFault};
use crate::resolve::{NoAddress, NoneInReach};
use crate::url::{Origin, UrlRefused};

/// The error for a request without a response head.
pub(super) fn head(error: reqwest::Error, origin: &Origin) -> HttpError {
    let origin = origin.clone();
    if let Some(NoneInReach { name, special }) = find(&error) {
        return UrlRefused::OutOfReach { host: name.clone(), special: *special }.into();
    }
    if let Some(DialTimedOut { after }) = find(&error) {
        return HttpError::ConnectTimeout { origin, after: *after };
    }
    if let Some(fault) = find(&error).map(tls_fault) {
        return HttpError::Tls { origin, fault };
    }
    if find::<NoAddress>(&error).is_some() {
        return HttpError::Unresolvable { origin };
    }
    if error.is_connect() {
        return match find::<io::Error>(&error).map(io::Error::kind) {
            Some(io::ErrorKind::UnexpectedEof) if origin.is_https() => {
                HttpError::Tls { origin, fault: TlsFault::Handshake }
            }
            kind => HttpError::Unreachable { origin, kind: kind.unwrap_or(io::ErrorKind::NotConnected) },
        };
    }
    if error.is_builder() {
        return HttpError::Setup { cause: error.without_url() };
    }
    broken(&error, origin)
}

/// The error for a name without a usable address.
pub(super) fn unresolved(error: &(dyn Error + 'static), origin: Origin) -> HttpError {
    match find(error) {
        Some(NoneInReach { name, special }) => UrlRefused::OutOfReach { host: name.clone(), special: *special }.into(),
        None => HttpError::Unresolvable { origin },
    }
}

/// The error for an incomplete body.
pub(super) fn body(error: reqwest::Error, origin: &Origin) -> HttpError {
    broken(&error, origin.clone())
}

fn broken(error: &reqwest::Error, origin: Origin) -> HttpError {
    if let Some(io) = find::<io::Error>(error) {
        return match io.kind() {
            io::ErrorKind::UnexpectedEof => HttpError::Interrupted { origin, how: Interruption::EndedEarly },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => HttpError::BadResponse { origin },
            _ => HttpError::Interrupted { origin, how: Interruption::Reset },
        };
    }
    match find::<hyper::Error>(error) {
        Some(hyper) if hyper.is_parse() => HttpError::BadResponse { origin },
        Some(hyper) if hyper.is_incomplete_message() => {
            HttpError::Interrupted { origin, how: Interruption::EndedEarly }
        }
        _ => HttpError::Interrupted { origin, how: Interruption::Reset },
    }
}

fn tls_fault(error: &rustls::Error) -> TlsFault {
    let rustls::Error::InvalidCertificate(certificate) = error else { return TlsFault::Handshake };
    match certificate {
        CertificateError::UnknownIssuer => TlsFault::UntrustedIssuer,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => TlsFault::OutOfDate,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => TlsFault::WrongName,
        _ => TlsFault::BadCertificate,
    }
}

/// The first cause of a type. An I/O error hides its inner error from the chain, so it is unwrapped.
pub(super) fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let inner = error.downcast_ref().and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
