//! `GET /metrics`: all metrics in the Prometheus format.

use axum::extract::State;
use http::header::CONTENT_TYPE;
use openfang_kernel::Kernel;

pub(super) async fn show(State(kernel): State<Kernel>) -> impl axum::response::IntoResponse {
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], kernel.metrics())
}
