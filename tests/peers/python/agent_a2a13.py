"""An agent on the official Python SDK 1.3 that clients are tried on. The arguments are the port, and `strict`, `compat`
(0.3 too), `plain` (no streams) or `rest` (HTTP+JSON). The address is printed once it listens.

What every one of these agents does with a text: `say` is answered with a message; `ask` asks a question and finishes with
the answer; `slow` writes an artifact in five chunks; `hang` works until it is canceled; `picture` brings an image, here
only; everything else is said again as an artifact."""

import asyncio
import socket
import sys

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as pb
from starlette.applications import Starlette

PAUSE = 0.05


class Agent(AgentExecutor):
    def __init__(self):
        self.canceled = {}

    async def execute(self, context, event_queue):
        text = context.get_user_input()
        if text.startswith("say"):
            await event_queue.enqueue_event(new_text_message(f"said: {text}", context_id=context.context_id))
            return
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task:
            await updater.start_work()
            await updater.add_artifact([new_text_part(f"chosen: {text}")], artifact_id="out")
            return await updater.complete()
        await event_queue.enqueue_event(new_task_from_user_message(context.message))
        await updater.start_work(new_text_message("working on it"))
        if text.startswith("ask"):
            return await updater.requires_input(new_text_message("which one?"))
        if text.startswith("hang"):
            stopped = self.canceled.setdefault(context.task_id, asyncio.Event())
            await stopped.wait()
            return
        if text.startswith("slow"):
            for number in range(5):
                await asyncio.sleep(PAUSE)
                part = [new_text_part(f"chunk {number};")]
                await updater.add_artifact(part, artifact_id="out", append=number > 0, last_chunk=number == 4)
        elif text.startswith("picture"):
            await updater.add_artifact([pb.Part(raw=b"\x89PNG\r\n", media_type="image/png")], artifact_id="out")
        else:
            await updater.add_artifact([new_text_part(f"echo: {text}")], artifact_id="out")
        await updater.complete()

    async def cancel(self, context, event_queue):
        self.canceled.setdefault(context.task_id, asyncio.Event()).set()
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url, mode):
    binding = "HTTP+JSON" if mode == "rest" else "JSONRPC"
    versions = ["1.0", "0.3"] if mode == "compat" else ["1.0"]
    interfaces = [pb.AgentInterface(url=url, protocol_binding=binding, protocol_version=one) for one in versions]
    return pb.AgentCard(
        name="tried",
        description="Does what clients are tried with.",
        version="1",
        supported_interfaces=interfaces,
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        capabilities=pb.AgentCapabilities(streaming=mode != "plain"),
        skills=[pb.AgentSkill(id="echo", name="echo", description="Says it again.", tags=["echo"])],
    )


async def main():
    mode = sys.argv[2]
    listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    address = "127.0.0.1:%d" % listening.getsockname()[1]
    described = card(f"http://{address}/", mode)
    handler = DefaultRequestHandler(Agent(), InMemoryTaskStore(), described)
    routes = create_agent_card_routes(described)
    if mode == "rest":
        routes += create_rest_routes(handler)
    else:
        routes += create_jsonrpc_routes(handler, "/", enable_v0_3_compat=mode == "compat")
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", access_log=False))
    print(address, flush=True)
    await server.serve(sockets=[listening])


asyncio.run(main())
