//! Opens connections. A layer around the client's connector applies the connect timeout of the request, tells the
//! request when its connection is open, and counts. The client does not say for which request it connects, so the
//! request leaves a note in its task.

use std::error::Error;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use openfang_types::limits::HTTP_CONNECT;
use tokio::sync::watch;
use tokio::time::timeout;
use tower::{Layer, Service};

use super::classify::find;
use super::metrics::{DialOutcome, HttpMetrics};
use crate::resolve::{NoAddress, NoneInReach};

type BoxError = Box<dyn Error + Send + Sync>;

tokio::task_local! {
    static NOTE: Arc<ConnectNote>;
}

/// The connect timeout has passed.
#[derive(Debug, thiserror::Error)]
#[error("no connection within {after:?}")]
pub(super) struct DialTimedOut {
    pub(super) after: Duration,
}

/// The connect settings of a request, and whether it is connecting.
#[derive(Debug)]
pub(super) struct ConnectNote {
    patience: Duration,
    is_dialling: watch::Sender<bool>,
    /// The addresses to dial, if they were resolved before.
    pinned: Option<Vec<IpAddr>>,
}

impl ConnectNote {
    /// A note, and a receiver that shows whether a connection is being opened.
    pub(super) fn new(patience: Duration, pinned: Option<Vec<IpAddr>>) -> (Arc<Self>, watch::Receiver<bool>) {
        let (is_dialling, seen) = watch::channel(false);
        (Arc::new(Self { patience, is_dialling, pinned }), seen)
    }

    /// Runs a request whose connections use this note.
    pub(super) async fn carried_by<T>(self: &Arc<Self>, request: impl Future<Output = T>) -> T {
        NOTE.scope(Arc::clone(self), request).await
    }
}

/// The addresses that this task's request resolved before connecting, if any.
pub(crate) fn pinned() -> Option<Vec<IpAddr>> {
    NOTE.try_with(|note| note.pinned.clone()).ok().flatten()
}

/// Reports the end of dialling when it is dropped.
struct DialGuard(Option<Arc<ConnectNote>>);

impl DialGuard {
    fn begin(note: Option<Arc<ConnectNote>>) -> Self {
        if let Some(note) = &note {
            note.is_dialling.send_replace(true);
        }
        Self(note)
    }
}

impl Drop for DialGuard {
    fn drop(&mut self) {
        if let Some(note) = &self.0 {
            note.is_dialling.send_replace(false);
        }
    }
}

/// Wraps the client's connector.
#[derive(Clone)]
pub(super) struct DialLayer {
    pub(super) metrics: HttpMetrics,
}

impl<S> Layer<S> for DialLayer {
    type Service = Dialler<S>;

    fn layer(&self, connector: S) -> Dialler<S> {
        Dialler { connector, metrics: self.metrics.clone() }
    }
}

/// The client's connector with our timeout and metrics.
#[derive(Clone)]
pub(super) struct Dialler<S> {
    connector: S,
    metrics: HttpMetrics,
}

impl<S, To> Service<To> for Dialler<S>
where
    S: Service<To, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, to: To) -> Self::Future {
        let note = NOTE.try_with(Arc::clone).ok();
        let after = note.as_ref().map_or(HTTP_CONNECT, |note| note.patience);
        let connecting = self.connector.call(to);
        let metrics = self.metrics.clone();
        let dialling = DialGuard::begin(note.clone());
        Box::pin(async move {
            // A connection may outlive its request and finish in a task without a note.
            let connecting = async move {
                match note {
                    Some(note) => NOTE.scope(note, connecting).await,
                    None => connecting.await,
                }
            };
            let connected = timeout(after, connecting).await.unwrap_or_else(|_| Err(DialTimedOut { after }.into()));
            metrics.dialled(match &connected {
                Ok(_) => DialOutcome::Opened,
                Err(error) if find::<NoneInReach>(&**error).is_some() => DialOutcome::Refused,
                Err(error) if find::<NoAddress>(&**error).is_some() => DialOutcome::Unresolved,
                Err(_) => DialOutcome::Failed,
            });
            drop(dialling);
            connected
        })
    }
}
