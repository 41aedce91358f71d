//! One error type for all routes, and the one place that maps errors to a status and a body.

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, StatusCode};
use openfang_kernel::approvals::ApprovalError;
use openfang_kernel::config_edit::EditError;
use openfang_kernel::schedules::ScheduleError;
use openfang_kernel::skill_control::SkillError;
use openfang_kernel::users::UserError;
use openfang_kernel::vault::VaultError;
use openfang_kernel::{AuthError, ChangeError, KernelError, Refusal, ToolError};
use openfang_types::ids::TraceId;
use openfang_types::limits::TOO_MUCH_PAUSE;
use schemars::JsonSchema;
use serde::Serialize;

use crate::routes::a2a::{A2aBinding, refusals};

/// The error sent to a caller: a code for programs, a message for people, and the trace id for the log.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    trace: Option<TraceId>,
    retry_after: Option<Duration>,
    allowed: &'static [Method],
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), trace: None, retry_after: None, allowed: &[] }
    }

    pub(crate) fn broken() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "broken", "internal error; see the server log for this trace id")
    }

    pub(crate) fn wrong_host() -> Self {
        let says = "this server does not accept that Host; use its address, or add the name to allowed_hosts";
        Self::new(StatusCode::MISDIRECTED_REQUEST, "wrong_host", says)
    }

    pub(crate) fn wrong_origin() -> Self {
        let says = "pages of this Origin must not call this server; add it to allowed_origins";
        Self::new(StatusCode::FORBIDDEN, "wrong_origin", says)
    }

    pub(crate) fn forged() -> Self {
        let says = "a request that changes something and is authenticated by a cookie needs the header Origin; send it, or use a \
                    key instead of the cookie";
        Self::new(StatusCode::FORBIDDEN, "forged", says)
    }

    pub(crate) fn unauthorized(error: AuthError) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", error.to_string())
    }

    pub(crate) fn too_many(wait: Duration) -> Self {
        let says = "too many requests; retry after the time in the Retry-After header";
        Self { retry_after: Some(wait), ..Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", says) }
    }

    pub(crate) fn too_many_calls() -> Self {
        let says = "the batch has too many calls; send fewer, or raise limits.rate_per_principal_burst";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", says)
    }

    pub(crate) fn too_much() -> Self {
        let says = "too many large requests and responses are in flight; read the pending responses, or retry after the time \
                    in Retry-After";
        Self { retry_after: Some(TOO_MUCH_PAUSE), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "too_much", says) }
    }

    pub(crate) fn too_large(max_bytes: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("the body must not exceed {max_bytes} bytes"))
    }

    pub(crate) fn too_many_headers(max_headers: usize) -> Self {
        let says = format!("a request must not have more than {max_headers} headers");
        Self::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "too_many_headers", says)
    }

    pub(crate) fn unsupported(says: &str) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", says)
    }

    pub(crate) fn slow_body() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "slow_body", "the body did not arrive in time")
    }

    pub(crate) fn bad_request(says: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", says)
    }

    pub(crate) fn bad_gateway(says: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "bad_gateway", says)
    }

    pub(crate) fn unread_path() -> Self {
        Self::bad_request("the path is not UTF-8")
    }

    pub(crate) fn no_such_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no_such_route", "no such route; try GET /api/tools")
    }

    pub(crate) fn no_such_agent(listen_path: &str) -> Self {
        let says = format!("there is no such agent or path; GET {listen_path}/agents lists the agents");
        Self::new(StatusCode::NOT_FOUND, "no_such_route", says)
    }

    pub(crate) fn no_a2a() -> Self {
        let says = "A2A is disabled on this server; set enabled = true under [a2a] in config.toml";
        Self::new(StatusCode::NOT_FOUND, "no_a2a", says)
    }

    pub(crate) fn no_card_keys() -> Self {
        let says = "cards are not signed on this server; set card_key under [a2a] in config.toml to a key file";
        Self::new(StatusCode::NOT_FOUND, "no_card_keys", says)
    }

    pub(crate) fn wrong_method(allowed: &'static [Method]) -> Self {
        let says = "this route does not support that method; see the Allow header";
        Self { allowed, ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", says) }
    }

    /// Just the body, for a stream whose status is already sent.
    pub(crate) fn body(&self) -> impl Serialize + use<'_> {
        ErrorBody { error: Details { code: self.code, message: &self.message, trace: self.trace } }
    }
}

/// The body of an error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct ErrorBody<'a> {
    error: Details<'a>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErrorDetails")]
struct Details<'a> {
    /// A word for programs.
    code: &'static str,
    /// A sentence for people.
    message: &'a str,
    /// The request in the log of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<TraceId>,
}

impl From<KernelError> for ApiError {
    fn from(error: KernelError) -> Self {
        let retry_after = error.is_limit().then_some(Duration::from_secs(1));
        Self { retry_after, ..Self::new(status_of(&error), error.reason(), error.to_string()) }
    }
}

const fn status_of_vault(error: &VaultError) -> StatusCode {
    match error {
        VaultError::Unknown { .. } => StatusCode::NOT_FOUND,
        VaultError::Value | VaultError::InHost => StatusCode::BAD_REQUEST,
        VaultError::TooMany { .. } | VaultError::BoundElsewhere { .. } | VaultError::NoSuchUser(_) => {
            StatusCode::CONFLICT
        }
        VaultError::Unopened { .. } | VaultError::Unsealed | VaultError::File { .. } => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

const fn status_of_approval(error: &ApprovalError) -> StatusCode {
    match error {
        ApprovalError::Unknown(_) => StatusCode::NOT_FOUND,
        ApprovalError::NotWaiting { .. } | ApprovalError::OtherCall(_) => StatusCode::CONFLICT,
        ApprovalError::NotAPerson | ApprovalError::NoRight(_) | ApprovalError::AtThisMachine(_) => {
            StatusCode::FORBIDDEN
        }
    }
}

const fn status_of_schedule(error: &ScheduleError) -> StatusCode {
    match error {
        ScheduleError::Unknown(_) => StatusCode::NOT_FOUND,
        ScheduleError::Running(_) | ScheduleError::Ended(_) | ScheduleError::Changed(_) => StatusCode::CONFLICT,
        ScheduleError::NotAPerson | ScheduleError::NotAllowed { .. } => StatusCode::FORBIDDEN,
    }
}

const fn status_of_skill(error: &SkillError) -> StatusCode {
    match error {
        SkillError::Unknown { .. } => StatusCode::NOT_FOUND,
        SkillError::Unusable(_) => StatusCode::UNPROCESSABLE_ENTITY,
        SkillError::Source(_) => StatusCode::BAD_REQUEST,
        SkillError::NotTrusted(_)
        | SkillError::OtherDigest { .. }
        | SkillError::Exists { .. }
        | SkillError::Older { .. }
        | SkillError::TooMany
        | SkillError::TooManyProjects => StatusCode::CONFLICT,
        SkillError::Server { .. } => StatusCode::BAD_GATEWAY,
        SkillError::Ledger { .. } | SkillError::Storage(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

const fn status_of_user(error: &UserError) -> StatusCode {
    match error {
        UserError::Unknown { .. } | UserError::UnknownKey(_) | UserError::NotGranted { .. } => StatusCode::NOT_FOUND,
        UserError::Exists(_) | UserError::Former(_) | UserError::TooMany { .. } => StatusCode::CONFLICT,
        UserError::Reserved(_)
        | UserError::Grant(_)
        | UserError::Label
        | UserError::EntryLabel
        | UserError::Expired
        | UserError::Password => StatusCode::UNPROCESSABLE_ENTITY,
        UserError::WrongLogin => StatusCode::UNAUTHORIZED,
        UserError::Busy => StatusCode::TOO_MANY_REQUESTS,
    }
}

/// The match is exhaustive: a new kind of error does not compile until it has a status.
fn status_of(error: &KernelError) -> StatusCode {
    match error {
        KernelError::UnknownAgent(_)
        | KernelError::UnknownTool(_)
        | KernelError::UnknownTask(_)
        | KernelError::UnknownProfile { .. }
        | KernelError::UnknownModel(_)
        | KernelError::UnknownServer { .. } => StatusCode::NOT_FOUND,
        KernelError::NotPermitted(_) => StatusCode::FORBIDDEN,
        KernelError::AgentUnreachable(_) | KernelError::ModelFailed(_) => StatusCode::BAD_GATEWAY,
        KernelError::ServerExists(_)
        | KernelError::AgentExists(_)
        | KernelError::NotInFile(_)
        | KernelError::ServerDisabled(_)
        | KernelError::ConfigEdit(EditError::Changed) => StatusCode::CONFLICT,
        KernelError::Change(ChangeError::Unrecorded { .. }) => StatusCode::SERVICE_UNAVAILABLE,
        KernelError::Change(ChangeError::Broke(_)) | KernelError::ConfigEdit(EditError::Unwritable(_)) => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        KernelError::ConfigEdit(_)
        | KernelError::OwnServer(_)
        | KernelError::OwnAgent(_)
        | KernelError::SettingsRejected(_) => StatusCode::UNPROCESSABLE_ENTITY,
        KernelError::RefusedByAgent(refusal) => match refusal {
            Refusal::ContentTypeNotSupported => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refusal::TaskNotFound => StatusCode::NOT_FOUND,
            Refusal::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Refusal::InvalidParams | Refusal::UnsupportedOperation | Refusal::PushNotificationNotSupported => {
                StatusCode::BAD_REQUEST
            }
        },
        KernelError::InvalidMessage(_)
        | KernelError::InvalidPush { .. }
        | KernelError::InvalidPageToken
        | KernelError::NoSuchEvent { .. } => StatusCode::BAD_REQUEST,
        KernelError::TaskEnded { .. }
        | KernelError::TaskBusy { .. }
        | KernelError::NotCancelable { .. }
        | KernelError::TooDeep { .. }
        | KernelError::NobodyToAsk(_) => StatusCode::CONFLICT,
        KernelError::TooManyStreams { .. } => StatusCode::TOO_MANY_REQUESTS,
        KernelError::TooMuch => StatusCode::SERVICE_UNAVAILABLE,
        KernelError::Revoked => StatusCode::UNAUTHORIZED,
        KernelError::Approval(error) => status_of_approval(error),
        KernelError::Schedule(error) => status_of_schedule(error),
        KernelError::Skill(error) => status_of_skill(error),
        KernelError::Vault(error) => status_of_vault(error),
        KernelError::User(error) => status_of_user(error),
        KernelError::Store(_) if error.is_storage_full() => StatusCode::INSUFFICIENT_STORAGE,
        KernelError::Store(_) if error.is_limit() => StatusCode::TOO_MANY_REQUESTS,
        KernelError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        KernelError::Tool(error) => match error {
            ToolError::Unknown { .. } => StatusCode::NOT_FOUND,
            ToolError::NotGranted { .. } | ToolError::Quarantined { .. } => StatusCode::FORBIDDEN,
            ToolError::InvalidArguments { .. } | ToolError::Unchecked(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ToolError::Tainted { .. }
            | ToolError::NeedsApproval(_)
            | ToolError::NotAllowed { .. }
            | ToolError::NotApproved { .. }
            | ToolError::CannotBeShown { .. }
            | ToolError::CannotBeShownExactly { .. }
            | ToolError::SecretInArguments(_) => StatusCode::FORBIDDEN,
            ToolError::TooManyWaiting { .. } => StatusCode::TOO_MANY_REQUESTS,
            ToolError::Looping { .. } => StatusCode::CONFLICT,
            ToolError::TimedOut { .. } => StatusCode::GATEWAY_TIMEOUT,
            ToolError::Failed { .. } => StatusCode::BAD_GATEWAY,
            ToolError::Cancelled(_) | ToolError::Unrecorded { .. } => StatusCode::SERVICE_UNAVAILABLE,
            ToolError::Panicked(_) | ToolError::UnusableSchema { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

impl ApiError {
    /// The response for the caller. The outermost layer renders it, because only that layer knows the trace id.
    pub(crate) fn render(mut self, trace: TraceId, binding: Option<A2aBinding>) -> Response {
        self.trace = Some(trace);
        let in_its_words = binding.and_then(|binding| refusals::written(binding, self.status, &self.message));
        let mut response = in_its_words.unwrap_or_else(|| (self.status, Json(self.body())).into_response());
        let headers = response.headers_mut();
        if let Some(wait) = self.retry_after {
            // Whole seconds, rounded up, so that a client that waits this long is not refused again.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        if !self.allowed.is_empty() {
            let words: Vec<&str> = self.allowed.iter().map(Method::as_str).collect();
            headers.extend(HeaderValue::from_str(&words.join(", ")).map(|allowed| (ALLOW, allowed)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A handler's error is passed to the outermost layer unchanged.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
