"""The official Python SDK as a client. The command line is that of driver.py."""

import sys

from driver import done, main
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import ElicitResult


def transport(job):
    if job.http:
        return streamable_http_client(job.http, http_client=create_mcp_http_client(headers=job.headers))
    if job.sse:
        return sse_client(job.sse, headers=job.headers)
    return StdioServerParameters(command=job.server[0], args=job.server[1:], env=job.env)


async def drive(job):
    seen = []

    async def elicit(context, params):
        seen.append(params.message)
        return ElicitResult(action="accept", content=job.elicit)

    callback = None if job.elicit is None else elicit
    async with Client(transport(job), mode=job.mode, elicitation_callback=callback) as client:

        async def call(name, arguments, progress):
            return await client.call_tool(name, arguments, progress_callback=progress)

        return await done(job, "python mcp", client, call, seen)


if __name__ == "__main__":
    sys.exit(main(drive))
