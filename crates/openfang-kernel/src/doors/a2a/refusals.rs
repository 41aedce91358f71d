//! What the kernel cannot do, in A2A's terms. Ids are left out: what is somebody else's must look like what is not there.

use openfang_a2a::error::A2aError;
use openfang_runtime::answerer::Refusal;
use openfang_store::StoreError;

use crate::KernelError;

/// A new way to fail does not compile until it has a word here.
pub(super) fn refused(error: KernelError) -> A2aError {
    match error {
        KernelError::UnknownTask(_) => A2aError::TaskNotFound,
        KernelError::UnknownAgent(_) => A2aError::invalid("tenant", "there is no such agent"),
        KernelError::InvalidMessage(why) => A2aError::invalid("message", why),
        KernelError::RefusedByAgent(refusal) => match refusal {
            Refusal::ContentTypeNotSupported => A2aError::ContentType(refusal.to_string()),
            Refusal::InvalidParams => A2aError::invalid("message", refusal.to_string()),
            Refusal::UnsupportedOperation => A2aError::Unsupported(refusal.to_string()),
            Refusal::PushNotificationNotSupported => A2aError::PushNotSupported,
            Refusal::TaskNotFound => A2aError::TaskNotFound,
            Refusal::InternalError => A2aError::Internal,
        },
        KernelError::TooDeep { .. } => A2aError::Unsupported(error.to_string()),
        KernelError::InvalidPush { field, .. } => A2aError::invalid(field, error.to_string()),
        KernelError::TaskEnded { state, .. } => {
            A2aError::Unsupported(format!("the task is {state} and takes no more messages; send without a task id"))
        }
        KernelError::TaskBusy { state, .. } => {
            A2aError::Unsupported(format!("the task is {state}; wait until it asks for input, or cancel it"))
        }
        KernelError::NotCancelable { state, .. } => A2aError::NotCancelable(state),
        KernelError::InvalidPageToken => A2aError::invalid("pageToken", "it is not valid; start again without one"),
        KernelError::NoSuchEvent { last, .. } => {
            A2aError::invalid("Last-Event-ID", format!("the task has no such event; its last event is {last}"))
        }
        KernelError::TooManyStreams { .. }
        | KernelError::Store(
            StoreError::TooManyLive { .. } | StoreError::TooManyPushes { .. } | StoreError::OwnerFull { .. },
        ) => A2aError::TooMany(error.to_string()),
        KernelError::TooMuch => A2aError::TooMuch(error.to_string()),
        KernelError::Revoked => A2aError::Unsupported(error.to_string()),
        KernelError::Store(StoreError::Unavailable { .. }) => A2aError::Unavailable,
        KernelError::Store(StoreError::NotFound) => A2aError::TaskNotFound,
        KernelError::UnknownTool(_)
        | KernelError::NobodyToAsk(_)
        | KernelError::UnknownServer { .. }
        | KernelError::ServerExists(_)
        | KernelError::UnknownProfile { .. }
        | KernelError::UnknownModel(_)
        | KernelError::ModelFailed(_)
        | KernelError::ServerDisabled(_)
        | KernelError::OwnServer(_)
        | KernelError::AgentExists(_)
        | KernelError::OwnAgent(_)
        | KernelError::AgentUnreachable(_)
        | KernelError::NotInFile(_)
        | KernelError::NotPermitted(_)
        | KernelError::Change(_)
        | KernelError::ConfigEdit(_)
        | KernelError::SettingsRejected(_)
        | KernelError::User(_)
        | KernelError::Vault(_)
        | KernelError::Approval(_)
        | KernelError::Schedule(_)
        | KernelError::Skill(_)
        | KernelError::Tool(_)
        | KernelError::Store(
            StoreError::Conflict
            | StoreError::NotAllowed { .. }
            | StoreError::TooManyKeys { .. }
            | StoreError::TooMany { .. },
        ) => {
            tracing::error!(%error, "an A2A request met an error that it cannot have");
            A2aError::Internal
        }
    }
}
