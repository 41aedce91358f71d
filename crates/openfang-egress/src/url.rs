//! Checked URLs: two types that only a [`Guard`] can make.
//!
//! An [`OperatorUrl`] comes from the config or the command line. It may lead to this machine and to private networks. A
//! [`ForeignUrl`] comes from anywhere else: a card, a redirect, a webhook, a model. It leads to public addresses only,
//! unless the operator allow-listed more. Neither ever leads to cloud metadata. The literal address or name of a URL is
//! checked when the URL is made; resolved addresses are checked when they are dialled. Printing a URL shows its origin
//! only, because paths and queries can contain secrets.

use std::fmt;

use crate::address::Special;

pub use guard::{AllowListError, Guard, host_name_of};
pub use origin::Origin;

mod allow;
mod guard;
mod origin;
mod ports;

/// The source of a URL, which determines what it may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// The operator, in the config or on the command line.
    Operator,
    Foreign,
}

impl Reach {
    /// The name in spans and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Foreign => "foreign",
        }
    }
}

/// A URL from the operator.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OperatorUrl(url::Url);

/// A URL that somebody else named. There is no way around the [`Guard`]:
///
/// ```compile_fail
/// let around = openfang_egress::url::ForeignUrl(url::Url::parse("http://127.0.0.1/").unwrap());
/// ```
///
/// ```
/// let refused = openfang_egress::url::Guard::default().foreign("http://127.0.0.1/");
/// assert!(refused.is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ForeignUrl(url::Url);

/// The methods both types share.
macro_rules! checked_url {
    ($name:ident) => {
        impl $name {
            /// The whole URL, including secrets. Use it for sending and comparing, not for printing.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// Scheme, host and port.
            pub fn origin(&self) -> Origin {
                Origin::of(&self.0)
            }

            pub(crate) const fn url(&self) -> &url::Url {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/...", self.origin())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

checked_url!(OperatorUrl);
checked_url!(ForeignUrl);

/// Why a URL was refused. No variant contains more than the origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefused {
    /// The URL exceeds the length limit.
    #[error("the url is longer than {limit} bytes")]
    TooLong {
        /// The length limit in bytes.
        limit: usize,
    },
    /// The text is not a URL.
    #[error("this is not a url: {why}; write it like https://example.com/path")]
    Malformed {
        /// The error of the parser.
        why: url::ParseError,
    },
    /// A character that parsers of URLs take for another one, or for none.
    #[error("the url contains a control character or a backslash; write it like https://example.com/path")]
    Spelling,
    #[error("only http and https urls are supported")]
    Scheme,
    #[error("the url carries credentials; put them in a header instead")]
    Credentials,
    #[error("the url names no host; write it like https://example.com/path")]
    NoHost,
    /// A port that foreign URLs must not use.
    #[error("port {port} of {host} is {what}; add \"{host}:{port}\" to [egress] allow if this is intended", what = what_listens(*port))]
    Port { host: String, port: u16 },
    /// An address or a name that must not be reached.
    #[error("{host} is {special}, which {rule}", rule = rule(*special))]
    OutOfReach { host: String, special: Special },
}

fn what_listens(port: u16) -> String {
    ports::what_listens(port).map_or_else(
        || "not one for the web".to_owned(),
        |what| format!("that of {what}, which no stranger's url may reach"),
    )
}

fn rule(special: Special) -> &'static str {
    use crate::address::Class;
    match special.class {
        Class::Local => "only the operator's own urls may reach; allow-list it if it is meant",
        Class::Reserved => "no url may reach; allow-list its address range if it is meant",
        Class::Metadata => "no url may ever reach",
    }
}

impl UrlRefused {
    /// The word in metrics.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "too_long",
            Self::Malformed { .. } => "malformed",
            Self::Spelling => "spelling",
            Self::Scheme => "scheme",
            Self::Credentials => "credentials",
            Self::NoHost => "no_host",
            Self::Port { .. } => "port",
            Self::OutOfReach { special, .. } => special.class.as_str(),
        }
    }
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
