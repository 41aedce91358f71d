"""fastmcp as a client. The command line is that of driver.py."""

import sys

from driver import done, main
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport


def transport(job):
    if job.http:
        return StreamableHttpTransport(job.http, headers=job.headers)
    if job.sse:
        return SSETransport(job.sse, headers=job.headers)
    return StdioTransport(job.server[0], job.server[1:], env=job.env, keep_alive=False)


class Pages:
    """The client with lists page by page, under the names that the Python SDK has for them."""

    def __init__(self, client):
        self.client = client
        self.list_tools, self.list_prompts = client.list_tools_mcp, client.list_prompts_mcp
        self.list_resources, self.read_resource = client.list_resources_mcp, client.read_resource_mcp

    def __getattr__(self, name):
        return getattr(self.client, name)


async def drive(job):
    seen = []

    async def elicit(message, response_type, params, context):
        seen.append(message)
        return ElicitResult(action="accept", content=job.elicit)

    handler = None if job.elicit is None else elicit
    async with Client(transport(job), mode=job.mode, elicitation_handler=handler) as client:

        async def call(name, arguments, progress):
            return await client.call_tool_mcp(name, arguments, progress_handler=progress)

        return await done(job, "fastmcp", Pages(client), call, seen)


if __name__ == "__main__":
    sys.exit(main(drive))
