//! The table of tools. The names, and what each is to do, are the conformance suite's.

use openfang_mcp::host::{Call, HostFuture};
use openfang_mcp::listing::Listed;
use openfang_types::content::ToolOutput;
use serde_json::Value;

use super::lists::{ChangingList, entry};
use super::{Called, Fixture, answering, asking, telling};

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    description: &'static str,
    /// JSON, listed byte for byte.
    input_schema: &'static str,
    /// More members of the definition, each with a comma before it.
    more: &'static str,
    pub(super) deed: Deed,
}

/// What a tool does.
#[derive(Clone, Copy)]
pub(super) enum Deed {
    /// Answers the same every time.
    Answers(fn() -> ToolOutput),
    /// Needs something from the client.
    Asks(fn(&Call<'_, ()>, &Value) -> Called),
    /// Tells something on its way, or does something.
    Tells(for<'a> fn(&'a Fixture, Call<'a, ()>) -> HostFuture<'a, ToolOutput>),
}

const NOTHING: &str = r#"{"type":"object","additionalProperties":false}"#;
/// The keywords stand in an order that no writer of JSON would choose.
const ALL_KEYWORDS: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"},"weight":{"type":"number","maximum":1.50}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;
const PROMPT: &str = r#"{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}"#;
const MESSAGE: &str = r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#;
const MIRRORED: &str =
    r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"query":{"type":"string"}}}"#;
/// Everything that a revision after the first has added to a definition.
const NEWER_MEMBERS: &str = r#","title":"Structured","outputSchema":{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"]},"annotations":{"readOnlyHint":true},"icons":[{"src":"https://example.com/icon.png"}],"_meta":{"example.com/kept":1}"#;

/// The tool that comes and goes.
const PASSING: &str = "test_passing_tool";

const fn tool(name: &'static str, description: &'static str, deed: Deed) -> Tool {
    Tool { name, description, input_schema: NOTHING, more: "", deed }
}

const TOOLS: &[Tool] = &[
    tool("test_simple_text", "Answers with a text.", Deed::Answers(answering::text)),
    tool("test_image_content", "Answers with a picture.", Deed::Answers(answering::image)),
    tool("test_audio_content", "Answers with a sound.", Deed::Answers(answering::audio)),
    tool("test_embedded_resource", "Answers with a resource.", Deed::Answers(answering::resource)),
    tool("test_multiple_content_types", "Answers with three kinds of content.", Deed::Answers(answering::mixed)),
    tool("test_error_handling", "Fails.", Deed::Answers(answering::failure)),
    tool(PASSING, "Comes and goes.", Deed::Answers(answering::text)),
    Tool {
        input_schema: ALL_KEYWORDS,
        ..tool("json_schema_2020_12_tool", "Has a schema with many keywords.", Deed::Answers(answering::text))
    },
    Tool {
        input_schema: MIRRORED,
        ..tool("test_mirrored_argument", "Has an argument that a header repeats.", Deed::Answers(answering::text))
    },
    Tool {
        more: NEWER_MEMBERS,
        ..tool("test_structured_content", "Answers with a value.", Deed::Answers(answering::structured))
    },
    tool("test_resource_link", "Answers with a pointer to a resource.", Deed::Answers(answering::link)),
    tool("test_tool_with_logging", "Logs three lines.", Deed::Tells(telling::logs)),
    tool("test_logging_tool", "Logs one line.", Deed::Tells(telling::logs_once)),
    tool("test_tool_with_progress", "Tells how far it is.", Deed::Tells(telling::progresses)),
    tool("test_reconnection", "Ends its connection and goes on.", Deed::Tells(telling::reconnects)),
    tool("test_trigger_tool_change", "Changes the list of tools.", Deed::Tells(telling::changes_tools)),
    tool("test_trigger_prompt_change", "Changes the list of prompts.", Deed::Tells(telling::changes_prompts)),
    tool("test_trigger_resource_change", "Writes the watched resource.", Deed::Tells(telling::changes_watched)),
    tool("test_missing_capability", "Needs a client with a model.", Deed::Asks(asking::needs_sampling)),
    Tool { input_schema: PROMPT, ..tool("test_sampling", "Asks the client's model.", Deed::Asks(asking::sampling)) },
    Tool { input_schema: MESSAGE, ..tool("test_elicitation", "Asks the user.", Deed::Asks(asking::elicitation)) },
    tool("test_elicitation_sep1034_defaults", "Asks with defaults.", Deed::Asks(asking::defaults)),
    tool("test_elicitation_sep1330_enums", "Asks with choices of every form.", Deed::Asks(asking::enums)),
    tool("test_streaming_elicitation", "Tells something, then asks.", Deed::Asks(asking::tells_and_asks)),
    tool("test_input_required_result_elicitation", "Asks for a name.", Deed::Asks(asking::name)),
    tool("test_input_required_result_sampling", "Asks the client's model.", Deed::Asks(asking::capital)),
    tool("test_input_required_result_list_roots", "Asks for directories.", Deed::Asks(asking::roots)),
    tool("test_input_required_result_request_state", "Asks to confirm.", Deed::Asks(asking::confirms)),
    tool("test_input_required_result_tampered_state", "Asks to confirm.", Deed::Asks(asking::confirms)),
    tool("test_input_required_result_multiple_inputs", "Asks three things at once.", Deed::Asks(asking::three)),
    tool("test_input_required_result_multi_round", "Asks twice.", Deed::Asks(asking::twice)),
    tool("test_input_required_result_capabilities", "Asks what it may.", Deed::Asks(asking::what_it_may)),
];

/// All of them.
pub(super) fn listed() -> ChangingList {
    let members = |tool: &Tool| {
        let Tool { description, input_schema, more, .. } = tool;
        format!(r#""description":"{description}","inputSchema":{input_schema}{more}"#)
    };
    let entries: Vec<_> = TOOLS.iter().map(|tool| entry(tool.name, &members(tool))).collect();
    ChangingList::new(Listed::Tools, &entries, PASSING)
}

/// The tool of that name, whether it is listed now or not.
pub(super) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}
