"""A small server on the official Python SDK: `server_mcp.py stdio` or `server_mcp.py http PORT` (on /mcp)."""

import base64
import sys
from typing import Annotated

import anyio
from mcp.server.mcpserver import Audio, Context, Elicit, Image, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ResourceLink
from pydantic import BaseModel

import conformance_tools

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = MCPServer("peer-mcp", version="1.0.0", log_level="WARNING")


class Sum(BaseModel):
    sum: int


class Colour(BaseModel):
    colour: str


def ask_colour() -> Elicit[Colour]:
    return Elicit("Which colour?", Colour)


@server.tool()
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool()
def add_numbers(a: int, b: int) -> Sum:
    """Adds two integers; the result is structured."""
    return Sum(sum=a + b)


@server.tool(structured_output=False)
def pixel() -> Image:
    """One pixel."""
    return Image(data=PIXEL, format="png")


@server.tool(structured_output=False)
def beep() -> Audio:
    """A sound."""
    return Audio(data=PIXEL, format="wav")


@server.tool(structured_output=False)
def where() -> ResourceLink:
    """A link that leads nowhere."""
    return ResourceLink(type="resource_link", name="nowhere", uri="http://127.0.0.1:1/nowhere")


@server.tool()
def fail(reason: str) -> str:
    """Always fails, for the reason given."""
    raise ToolError(reason)


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Takes a tenth of a second a step and reports each."""
    for step in range(steps):
        await anyio.sleep(0.1)
        await ctx.report_progress(step + 1, steps)
    return f"{steps} steps"


@server.tool()
def favourite(answer: Annotated[Colour, Resolve(ask_colour)]) -> str:
    """Asks the user for a colour."""
    return f"the colour is {answer.colour}"


@server.prompt()
def greeting(name: str) -> str:
    """Greets somebody."""
    return f"Please greet {name}."


@server.resource("peer://note", mime_type="text/plain")
def note() -> str:
    """A note."""
    return "a note from the peer"


conformance_tools.add_to(server, Context, Image, Audio, ToolError)

if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
