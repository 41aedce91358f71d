"""What the conformance suite calls, as far as both Python SDKs can write it in the same words."""

import asyncio
import base64

from mcp.types import EmbeddedResource, TextContent, TextResourceContents
from pydantic import BaseModel

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Person(BaseModel):
    username: str
    email: str


class Name(BaseModel):
    name: str


def add_to(server, Context, Image, Audio, ToolError):
    """Adds tools, prompts and resources to a server of either SDK."""

    @server.tool()
    def test_simple_text() -> str:
        """Answers with a text."""
        return "This is a simple text response for testing."

    @server.tool()
    def test_image_content() -> Image:
        """Answers with a picture."""
        return Image(data=PIXEL, format="png")

    @server.tool()
    def test_audio_content() -> Audio:
        """Answers with a sound."""
        return Audio(data=PIXEL, format="wav")

    @server.tool()
    def test_embedded_resource() -> EmbeddedResource:
        """Answers with a resource."""
        return embedded()

    @server.tool(structured_output=False) if takes_structured_output(server) else server.tool(output_schema=None)
    def test_multiple_content_types():
        """Answers with several blocks."""
        return [TextContent(type="text", text="Multiple content types test:"), Image(data=PIXEL, format="png"), embedded()]

    @server.tool()
    def test_error_handling() -> str:
        """Fails."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool()
    async def test_tool_with_progress(ctx: Context) -> str:
        """Tells how far it is."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100)
            await asyncio.sleep(0.05)
        return "done"

    @server.tool()
    async def test_tool_with_logging(ctx: Context) -> str:
        """Logs three lines."""
        for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(line)
            await asyncio.sleep(0.05)
        return "logged"

    @server.tool()
    async def test_elicitation(message: str, ctx: Context) -> str:
        """Asks the user, in the way of the legacy era."""
        answer = await ctx.elicit(message, Person)
        return f"User response: {answer.action}"

    @server.tool()
    async def test_input_required_result_elicitation(ctx: Context) -> str:
        """Asks for a name, in the way of the caller's era."""
        answer = await ctx.elicit("What is your name?", Name)
        return f"Hello: {answer.action}"

    @server.prompt()
    def test_simple_prompt() -> str:
        """Says one thing."""
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """Says what it is given."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """A picture."""
        return PIXEL

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        """Data of an id."""
        return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


def takes_structured_output(server) -> bool:
    """The official SDK calls so what fastmcp calls an output schema."""
    return type(server).__name__ == "MCPServer"


def embedded() -> EmbeddedResource:
    contents = TextResourceContents(
        uri="test://embedded-resource", mimeType="text/plain", text="This is an embedded resource content."
    )
    return EmbeddedResource(type="resource", resource=contents)
