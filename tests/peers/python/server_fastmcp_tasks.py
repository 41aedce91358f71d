"""A server on fastmcp whose one tool is a task or nothing: `server_fastmcp_tasks.py http PORT` (on /mcp)."""

import asyncio
import sys
from datetime import timedelta

from fastmcp import FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension

server = FastMCP("peer-fastmcp-tasks", version="1.0.0")
server.add_extension(TasksExtension())


@server.tool(task=TaskConfig(mode="required", poll_interval=timedelta(milliseconds=100)))
async def research(topic: str) -> str:
    """Takes a while."""
    await asyncio.sleep(0.5)
    return f"report on {topic}"


if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
