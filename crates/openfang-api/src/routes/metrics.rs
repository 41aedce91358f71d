//! `GET /metrics`: all metrics in the Prometheus format.

use axum::extract::State;
use axum::response::IntoResponse as _;
use http::header::CONTENT_TYPE;
use openfang_kernel::Kernel;

use crate::openapi::{MetricsText, Shaped};

pub(super) async fn show(State(kernel): State<Kernel>) -> Shaped<MetricsText> {
    const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, MEDIA_TYPE)], kernel.metrics()).into_response().into()
}
