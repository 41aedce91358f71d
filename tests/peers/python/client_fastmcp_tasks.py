"""fastmcp as a client that waits for tasks by itself: `client_fastmcp_tasks.py URL TOOL=ARGUMENTS...`.

Prints a line of JSON for each call: what the tool said, and what it asked before. Questions are answered with `three`.
"""

import asyncio
import json
import sys

import fastmcp_tasks  # noqa: F401  It makes every client wait for tasks.
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StreamableHttpTransport


async def main(url, calls):
    asked = []

    async def elicit(message, response_type, params, context):
        asked.append(message)
        return ElicitResult(action="accept", content={"reply": "three"})

    async with Client(StreamableHttpTransport(url), mode="auto", elicitation_handler=elicit) as client:
        for call in calls:
            tool, arguments = call.split("=", 1)
            result = await client.call_tool(tool, json.loads(arguments), raise_on_error=False)
            said = [block.text for block in result.content if block.type == "text"]
            print(json.dumps({"said": said, "is_error": result.is_error, "asked": asked}))
            asked.clear()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
