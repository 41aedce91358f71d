//! The methods of all revisions with the names of their definitions, which say what a message must look like. A method
//! that a revision does not have is one whose definition is not in its file.

use std::fmt;

/// Whether an answer is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "request",
            Self::Notification => "notification",
        })
    }
}

/// A method on the wire.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The definition of the message.
    pub(super) definition: &'static str,
    /// The definition of what answers it.
    pub(super) result: Option<&'static str>,
    /// Whether `input_required` may answer it (2026-07-28).
    pub(super) may_ask: bool,
}

const fn request(name: &'static str, definition: &'static str, result: &'static str) -> Method {
    Method { name, kind: Kind::Request, definition, result: Some(result), may_ask: false }
}

const fn asking(name: &'static str, definition: &'static str, result: &'static str) -> Method {
    Method { name, kind: Kind::Request, definition, result: Some(result), may_ask: true }
}

const fn notification(name: &'static str, definition: &'static str) -> Method {
    Method { name, kind: Kind::Notification, definition, result: None, may_ask: false }
}

/// Newest first.
pub(super) const METHODS: &[Method] = &[
    // Since 2026-07-28.
    request("server/discover", "DiscoverRequest", "DiscoverResult"),
    request("subscriptions/listen", "SubscriptionsListenRequest", "SubscriptionsListenResult"),
    notification("notifications/subscriptions/acknowledged", "SubscriptionsAcknowledgedNotification"),
    // 2025-11-25 only.
    request("tasks/get", "GetTaskRequest", "GetTaskResult"),
    request("tasks/list", "ListTasksRequest", "ListTasksResult"),
    request("tasks/result", "GetTaskPayloadRequest", "GetTaskPayloadResult"),
    request("tasks/cancel", "CancelTaskRequest", "CancelTaskResult"),
    notification("notifications/tasks/status", "TaskStatusNotification"),
    notification("notifications/elicitation/complete", "ElicitationCompleteNotification"),
    // Since 2025-06-18.
    request("elicitation/create", "ElicitRequest", "ElicitResult"),
    // Since 2024-11-05.
    asking("tools/call", "CallToolRequest", "CallToolResult"),
    asking("prompts/get", "GetPromptRequest", "GetPromptResult"),
    asking("resources/read", "ReadResourceRequest", "ReadResourceResult"),
    request("tools/list", "ListToolsRequest", "ListToolsResult"),
    request("prompts/list", "ListPromptsRequest", "ListPromptsResult"),
    request("resources/list", "ListResourcesRequest", "ListResourcesResult"),
    request("resources/templates/list", "ListResourceTemplatesRequest", "ListResourceTemplatesResult"),
    request("completion/complete", "CompleteRequest", "CompleteResult"),
    request("sampling/createMessage", "CreateMessageRequest", "CreateMessageResult"),
    request("roots/list", "ListRootsRequest", "ListRootsResult"),
    notification("notifications/cancelled", "CancelledNotification"),
    notification("notifications/progress", "ProgressNotification"),
    notification("notifications/message", "LoggingMessageNotification"),
    notification("notifications/tools/list_changed", "ToolListChangedNotification"),
    notification("notifications/prompts/list_changed", "PromptListChangedNotification"),
    notification("notifications/resources/list_changed", "ResourceListChangedNotification"),
    notification("notifications/resources/updated", "ResourceUpdatedNotification"),
    // Until 2025-11-25.
    request("initialize", "InitializeRequest", "InitializeResult"),
    request("ping", "PingRequest", "EmptyResult"),
    request("logging/setLevel", "SetLevelRequest", "EmptyResult"),
    request("resources/subscribe", "SubscribeRequest", "EmptyResult"),
    request("resources/unsubscribe", "UnsubscribeRequest", "EmptyResult"),
    notification("notifications/initialized", "InitializedNotification"),
    notification("notifications/roots/list_changed", "RootsListChangedNotification"),
];
