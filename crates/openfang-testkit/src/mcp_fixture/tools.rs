//! The table of tools. Their names and behavior are defined by the conformance suite.

use openfang_mcp::host::{Call, HostFuture};
use openfang_mcp::listing::Listed;
use openfang_types::content::ToolOutput;
use serde_json::Value;

use super::lists::{ChangingList, entry};
use super::tasks::Job;
use super::{CallResult, Fixture, answering, asking, telling};

pub(super) struct Tool {
    pub(super) name: &'static str,
    description: &'static str,
    /// The schema as JSON, listed byte for byte.
    input_schema: &'static str,
    /// Further members of the definition, each with a leading comma.
    more: &'static str,
    pub(super) deed: ToolBehavior,
}

/// The behavior of a tool.
#[derive(Clone, Copy)]
pub(super) enum ToolBehavior {
    /// Always returns the same result.
    Answers(fn() -> ToolOutput),
    /// Needs input from the client.
    Asks(fn(&Call<'_, ()>, &Value) -> CallResult),
    /// Sends notifications or has side effects.
    Tells(for<'a> fn(&'a Fixture, Call<'a, ()>) -> HostFuture<'a, ToolOutput>),
    /// Says hello.
    Greets,
    /// Becomes a task.
    Works(Job),
}

const NOTHING: &str = r#"{"type":"object","additionalProperties":false}"#;
/// The keywords are in an order that no JSON writer would choose.
const ALL_KEYWORDS: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"},"weight":{"type":"number","maximum":1.50}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;
const PROMPT: &str = r#"{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}"#;
const MESSAGE: &str = r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#;
const MIRRORED: &str =
    r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"query":{"type":"string"}}}"#;
/// Everything that later revisions added to a definition.
const NEWER_MEMBERS: &str = r#","title":"Structured","outputSchema":{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"]},"annotations":{"readOnlyHint":true},"icons":[{"src":"https://example.com/icon.png"}],"_meta":{"example.com/kept":1}"#;

const NAMED: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
const COMPUTING: &str = r#"{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}"#;
const FILE: &str = r#"{"type":"object","properties":{"filename":{"type":"string"}}}"#;
/// The name of the optional tool.
const PASSING: &str = "test_passing_tool";

const fn tool(name: &'static str, description: &'static str, deed: ToolBehavior) -> Tool {
    Tool { name, description, input_schema: NOTHING, more: "", deed }
}

/// A tool whose calls become tasks.
const fn job(name: &'static str, description: &'static str, job: Job) -> Tool {
    Tool { more: r#","execution":{"taskSupport":"optional"}"#, ..tool(name, description, ToolBehavior::Works(job)) }
}

const TOOLS: &[Tool] = &[
    Tool { input_schema: NAMED, ..tool("greet", "Says hello.", ToolBehavior::Greets) },
    Tool { input_schema: COMPUTING, ..job("slow_compute", "Takes as long as it is told.", Job::Computes) },
    Tool {
        input_schema: COMPUTING,
        more: r#","execution":{"taskSupport":"required"}"#,
        ..job("failing_job", "Fails after a while.", Job::Fails)
    },
    job("protocol_error_job", "Breaks after a while.", Job::Breaks),
    Tool { input_schema: FILE, ..job("confirm_delete", "Asks a question.", Job::Asks(1)) },
    job("multi_input", "Asks two questions at once.", Job::Asks(2)),
    job("test_tool_with_task", "Asks for a name, then works for a while.", Job::AsksFirst),
    tool("test_simple_text", "Answers with a text.", ToolBehavior::Answers(answering::text)),
    tool("test_image_content", "Answers with a picture.", ToolBehavior::Answers(answering::image)),
    tool("test_audio_content", "Answers with a sound.", ToolBehavior::Answers(answering::audio)),
    tool("test_embedded_resource", "Answers with a resource.", ToolBehavior::Answers(answering::resource)),
    tool(
        "test_multiple_content_types",
        "Answers with three kinds of content.",
        ToolBehavior::Answers(answering::mixed),
    ),
    tool("test_error_handling", "Fails.", ToolBehavior::Answers(answering::failure)),
    tool(PASSING, "Comes and goes.", ToolBehavior::Answers(answering::text)),
    Tool {
        input_schema: ALL_KEYWORDS,
        ..tool("json_schema_2020_12_tool", "Has a schema with many keywords.", ToolBehavior::Answers(answering::text))
    },
    Tool {
        input_schema: MIRRORED,
        ..tool(
            "test_mirrored_argument",
            "Has an argument that a header repeats.",
            ToolBehavior::Answers(answering::text),
        )
    },
    Tool {
        more: NEWER_MEMBERS,
        ..tool("test_structured_content", "Answers with a value.", ToolBehavior::Answers(answering::structured))
    },
    tool("test_resource_link", "Answers with a pointer to a resource.", ToolBehavior::Answers(answering::link)),
    tool("test_tool_with_logging", "Logs three lines.", ToolBehavior::Tells(telling::logs)),
    tool("test_logging_tool", "Logs one line.", ToolBehavior::Tells(telling::logs_once)),
    tool("test_tool_with_progress", "Tells how far it is.", ToolBehavior::Tells(telling::progresses)),
    tool("test_reconnection", "Ends its connection and goes on.", ToolBehavior::Tells(telling::reconnects)),
    tool("test_trigger_tool_change", "Changes the list of tools.", ToolBehavior::Tells(telling::changes_tools)),
    tool("test_trigger_prompt_change", "Changes the list of prompts.", ToolBehavior::Tells(telling::changes_prompts)),
    tool("test_trigger_resource_change", "Writes the watched resource.", ToolBehavior::Tells(telling::changes_watched)),
    tool("test_missing_capability", "Needs a client with a model.", ToolBehavior::Asks(asking::needs_sampling)),
    Tool {
        input_schema: PROMPT,
        ..tool("test_sampling", "Asks the client's model.", ToolBehavior::Asks(asking::sampling))
    },
    Tool {
        input_schema: MESSAGE,
        ..tool("test_elicitation", "Asks the user.", ToolBehavior::Asks(asking::elicitation))
    },
    tool("test_elicitation_sep1034_defaults", "Asks with defaults.", ToolBehavior::Asks(asking::defaults)),
    tool("test_elicitation_sep1330_enums", "Asks with choices of every form.", ToolBehavior::Asks(asking::enums)),
    tool("test_streaming_elicitation", "Tells something, then asks.", ToolBehavior::Asks(asking::tells_and_asks)),
    tool("test_input_required_result_elicitation", "Asks for a name.", ToolBehavior::Asks(asking::name)),
    tool("test_input_required_result_sampling", "Asks the client's model.", ToolBehavior::Asks(asking::capital)),
    tool("test_input_required_result_list_roots", "Asks for directories.", ToolBehavior::Asks(asking::roots)),
    tool("test_input_required_result_request_state", "Asks to confirm.", ToolBehavior::Asks(asking::confirms)),
    tool("test_input_required_result_tampered_state", "Asks to confirm.", ToolBehavior::Asks(asking::confirms)),
    tool("test_input_required_result_multiple_inputs", "Asks three things at once.", ToolBehavior::Asks(asking::three)),
    tool("test_input_required_result_multi_round", "Asks twice.", ToolBehavior::Asks(asking::twice)),
    tool("test_input_required_result_capabilities", "Asks what it may.", ToolBehavior::Asks(asking::what_it_may)),
];

pub(super) fn listed() -> ChangingList {
    let members = |tool: &Tool| {
        let Tool { description, input_schema, more, .. } = tool;
        format!(r#""description":"{description}","inputSchema":{input_schema}{more}"#)
    };
    let entries: Vec<_> = TOOLS.iter().map(|tool| entry(tool.name, &members(tool))).collect();
    ChangingList::new(Listed::Tools, &entries, PASSING)
}

/// The tool with that name, whether it is listed or not.
pub(super) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}
