"""The agent of agent_a2a13.py on fasta2a, whose workers write to a storage and may publish nothing. The argument is the
port."""

import asyncio
import contextlib
import socket
import sys

import uvicorn
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.storage import InMemoryStorage

PAUSE = 0.05


class Agent(Worker):
    def __init__(self, broker, storage):
        super().__init__(broker=broker, storage=storage)
        self.running = {}

    async def _loop(self):
        # One task of an agent must not hold up the next.
        async for operation in self.broker.receive_task_operations():
            work = asyncio.create_task(self._handle_task_operation(operation))
            self.running[(operation["operation"], operation["params"]["id"])] = work

    async def run_task(self, params):
        task_id, context_id = params["id"], params["context_id"]
        text = " ".join(part.get("text", "") for part in params["message"]["parts"])
        await self.storage.update_task(task_id, state="working")
        await self.publish_status(task_id, context_id, "working")
        if text.startswith("ask"):
            # Its tasks have no message in their status.
            asked = {"role": "ROLE_AGENT", "parts": [{"text": "which one?"}], "message_id": f"{task_id}-asked"}
            await self.storage.update_task(task_id, state="input-required", new_messages=[asked])
            return await self.publish_status(task_id, context_id, "input-required", asked)
        if text.startswith("hang"):
            await asyncio.Event().wait()
        chunks = [f"chunk {number};" for number in range(5)] if text.startswith("slow") else [f"echo: {text}"]
        if text.startswith("slow"):
            await asyncio.sleep(5 * PAUSE)
        artifact = {"artifact_id": "out", "parts": [{"text": chunk} for chunk in chunks]}
        await self.storage.update_task(task_id, state="completed", new_artifacts=[artifact])

    async def cancel_task(self, params):
        work = self.running.get(("run", params["id"]))
        if work:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
        await self.storage.update_task(params["id"], state="canceled")

    def build_message_history(self, history):
        return history

    def build_artifacts(self, result):
        return result


async def main():
    listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    address = "127.0.0.1:%d" % listening.getsockname()[1]
    broker, storage = InMemoryBroker(), InMemoryStorage()
    worker = Agent(broker, storage)

    @contextlib.asynccontextmanager
    async def lifespan(app):
        async with app.task_manager, worker.run():
            yield

    app = FastA2A(storage=storage, broker=broker, name="tried", url=f"http://{address}", lifespan=lifespan)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    print(address, flush=True)
    await server.serve(sockets=[listening])


asyncio.run(main())
