"""The agent of agent_a2a13.py on the official Python SDK 0.3 or 0.2. The arguments are the port and `jsonrpc`, `plain` (no
streams) or `rest` (0.3 only)."""

import asyncio
import socket
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TaskState, TextPart
from a2a.utils import new_agent_text_message, new_task

PAUSE = 0.05


def part(text):
    return [Part(root=TextPart(text=text))]


class Agent(AgentExecutor):
    def __init__(self):
        self.canceled = {}

    async def execute(self, context, event_queue):
        text = context.get_user_input()
        if text.startswith("say"):
            await event_queue.enqueue_event(new_agent_text_message(f"said: {text}"))
            return
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task:
            await updater.start_work()
            await updater.add_artifact(part(f"chosen: {text}"), artifact_id="out")
            return await updater.complete()
        task = new_task(context.message)
        task.id, task.context_id = context.task_id, context.context_id
        await event_queue.enqueue_event(task)
        await updater.start_work(new_agent_text_message("working on it"))
        if text.startswith("ask"):
            question = new_agent_text_message("which one?")
            return await updater.update_status(TaskState.input_required, question, final=True)
        if text.startswith("hang"):
            stopped = self.canceled.setdefault(context.task_id, asyncio.Event())
            await stopped.wait()
            return
        if text.startswith("slow"):
            for number in range(5):
                await asyncio.sleep(PAUSE)
                chunk = part(f"chunk {number};")
                await updater.add_artifact(chunk, artifact_id="out", append=number > 0, last_chunk=number == 4)
        else:
            await updater.add_artifact(part(f"echo: {text}"), artifact_id="out")
        await updater.complete()

    async def cancel(self, context, event_queue):
        self.canceled.setdefault(context.task_id, asyncio.Event()).set()
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.update_status(TaskState.canceled, final=True)


def card(url, mode):
    more = {"preferred_transport": "HTTP+JSON"} if mode == "rest" else {}
    return AgentCard(
        name="tried",
        description="Does what clients are tried with.",
        version="1",
        url=url,
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        capabilities=AgentCapabilities(streaming=mode != "plain"),
        skills=[AgentSkill(id="echo", name="echo", description="Says it again.", tags=["echo"])],
        **more,
    )


def application(described, handler, mode):
    if mode == "rest":
        from a2a.server.apps import A2ARESTFastAPIApplication

        return A2ARESTFastAPIApplication(agent_card=described, http_handler=handler).build()
    return A2AStarletteApplication(agent_card=described, http_handler=handler).build()


async def main():
    mode = sys.argv[2]
    listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    address = "127.0.0.1:%d" % listening.getsockname()[1]
    described = card(f"http://{address}/", mode)
    handler = DefaultRequestHandler(agent_executor=Agent(), task_store=InMemoryTaskStore())
    app = application(described, handler, mode)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    print(address, flush=True)
    await server.serve(sockets=[listening])


asyncio.run(main())
