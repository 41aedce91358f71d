"""A small server on fastmcp: `server_fastmcp.py stdio` or `server_fastmcp.py http PORT` (on /mcp)."""

import asyncio
import base64
import sys
from dataclasses import dataclass

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Audio, Image
from mcp.types import ResourceLink

import conformance_tools

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = FastMCP("peer-fastmcp", version="1.0.0")


@dataclass
class Sum:
    sum: int


@dataclass
class Colour:
    colour: str


@server.tool
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool
def add_numbers(a: int, b: int) -> Sum:
    """Adds two integers; the result is structured."""
    return Sum(sum=a + b)


@server.tool
def pixel() -> Image:
    """One pixel."""
    return Image(data=PIXEL, format="png")


@server.tool
def beep() -> Audio:
    """A sound."""
    return Audio(data=PIXEL, format="wav")


@server.tool
def where() -> ResourceLink:
    """A link that leads nowhere."""
    return ResourceLink(type="resource_link", name="nowhere", uri="http://127.0.0.1:1/nowhere")


@server.tool
def fail(reason: str) -> str:
    """Always fails, for the reason given."""
    raise ToolError(reason)


@server.tool
async def slow(steps: int, ctx: Context) -> str:
    """Takes a tenth of a second a step and reports each."""
    for step in range(steps):
        await asyncio.sleep(0.1)
        await ctx.report_progress(step + 1, steps)
    return f"{steps} steps"


@server.tool
async def favourite(ctx: Context) -> str:
    """Asks the user for a colour; only a client of the legacy era can be asked like this."""
    answer = await ctx.elicit("Which colour?", Colour)
    if answer.action != "accept":
        raise ToolError("no colour was given")
    return f"the colour is {answer.data.colour}"


@server.prompt
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
        server.run("stdio", show_banner=False)
    else:
        server.run("http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, log_level="warning")
