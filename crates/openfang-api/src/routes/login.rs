//! Login with a password, logout, and the current user.

use axum::extract::State;
use axum::response::IntoResponse as _;
use axum::{Extension, Json};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use openfang_kernel::users::{Me, UserError};
use openfang_kernel::{Kernel, KernelError};
use openfang_types::ids::Owner;
use openfang_types::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::{AnonymousJson, RequestCaller};
use crate::layers::{LoginCookie, Stranger};
use crate::openapi::Shaped;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LoginBody {
    user: String,
    password: Secret,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct LoggedIn {
    user: Owner,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedOut {
    logged_out: bool,
}

pub(super) async fn log_in(
    State(kernel): State<Kernel>,
    Extension(stranger): Extension<Stranger>,
    AnonymousJson(body): AnonymousJson<LoginBody>,
) -> Result<Shaped<Json<LoggedIn>>, ApiError> {
    // Charged before the expensive hash.
    let attempt = stranger.tries_to_log_in(&body.user)?;
    match kernel.log_in(stranger.trace, &body.user, body.password, attempt.turn).await {
        Ok(entered) => {
            stranger.logged_in(&attempt);
            let cookie = LoginCookie::of(&kernel.config()).set(&entered.cookie);
            Ok(with_cookie(cookie, LoggedIn { user: entered.user }))
        }
        Err(error) => {
            // A retry must not use up the client's attempts.
            if !matches!(error, KernelError::User(UserError::WrongLogin)) {
                stranger.was_turned_away(&attempt);
            }
            Err(error.into())
        }
    }
}

pub(super) async fn log_out(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Shaped<Json<LoggedOut>>, ApiError> {
    let logged_out = kernel.log_out(&caller).await?;
    Ok(with_cookie(LoginCookie::of(&kernel.config()).clear(), LoggedOut { logged_out }))
}

pub(super) async fn me(State(kernel): State<Kernel>, RequestCaller(caller): RequestCaller) -> Json<Me> {
    Json(kernel.me(&caller))
}

fn with_cookie<T: Serialize>(cookie: Option<HeaderValue>, body: T) -> Shaped<Json<T>> {
    let mut response = Json(body).into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
    response.into()
}
