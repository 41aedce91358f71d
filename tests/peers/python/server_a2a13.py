"""An agent on the official Python SDK 1.3, to be measured beside: every message makes a task with one artifact, kept in
the SDK's own memory store, over JSON-RPC on /. The argument is the port; the address is printed once it listens."""

import asyncio
import socket
import sys

import uvicorn
from a2a.helpers import new_data_part, new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as pb
from starlette.applications import Starlette


class Echo(AgentExecutor):
    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.add_artifact([new_data_part({"sum": 10})], name="add_numbers-result", last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url):
    interface = pb.AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")
    return pb.AgentCard(
        name="echo",
        description="Makes a task of every message.",
        version="1",
        supported_interfaces=[interface],
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["application/json"],
        capabilities=pb.AgentCapabilities(streaming=False),
        skills=[pb.AgentSkill(id="echo", name="echo", description="Makes a task.", tags=["echo"])],
    )


async def main():
    listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    address = "127.0.0.1:%d" % listening.getsockname()[1]
    handler = DefaultRequestHandler(Echo(), InMemoryTaskStore(), card(f"http://{address}/"))
    app = Starlette(routes=create_jsonrpc_routes(handler, "/"))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    # Whoever connects before the server runs waits in the queue of the socket.
    print(address, flush=True)
    await server.serve(sockets=[listening])


asyncio.run(main())
