"""The official Python SDK 1.3 as an A2A client that uses the tools of an MCP server as skills.

    client_a2a13_skills.py BASE_URL

The agent behind the address runs `/TOOL {json}`. A line of JSON for each thing that was done: `progress` with the texts of the
status updates, `asks` with the form, `answers`, `image` with the media type and size, and `cancel` with the last state.
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict

PATIENCE = 60
FORM = "application/vnd.mcp.elicitation+json"
LONG = "mcp_everything_trigger_long_running_operation"
ASKS = "mcp_everything_trigger_elicitation_request"
IMAGE = "mcp_everything_get_tiny_image"


def request(parts, task=None, blocking=True):
    message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": parts}
    if task:
        message |= {"taskId": task["id"], "contextId": task["contextId"]}
    return ParseDict({"message": message, "configuration": {"returnImmediately": not blocking}}, pb.SendMessageRequest())


def call(tool, arguments):
    return [{"text": f"/{tool} {json.dumps(arguments)}"}]


def said(status):
    return [part["text"] for part in status.get("message", {}).get("parts", []) if "text" in part]


async def task_of(client, sent):
    async for event in client.send_message(sent):
        return MessageToDict(event)["task"]
    raise RuntimeError("no answer")


async def progress(streaming):
    texts, end = [], None
    async for event in streaming.send_message(request(call(LONG, {"duration": 1, "steps": 4}))):
        update = MessageToDict(event).get("statusUpdate")
        if update:
            texts += said(update["status"])
            end = update["status"]["state"]
    return {"texts": texts, "end": end}


async def asks(once):
    task = await task_of(once, request(call(ASKS, {})))
    parts = task["status"]["message"]["parts"]
    form = next(part["data"] for part in parts if part.get("mediaType") == FORM)
    content = {"name": "Ada", "check": True, "email": "ada@example.org"}
    answer = [{"data": {"action": "accept", "content": content}}]
    done = await task_of(once, request(answer, task))
    return [
        {"op": "asks", "state": task["status"]["state"], "fields": sorted(form["requestedSchema"]["properties"])},
        {"op": "answers", "same": done["id"] == task["id"], "state": done["status"]["state"], "said": json.dumps(done)},
    ]


async def image(once):
    task = await task_of(once, request(call(IMAGE, {})))
    parts = [part for artifact in task["artifacts"] for part in artifact["parts"]]
    raw = next(part for part in parts if "raw" in part)
    return {"mediaType": raw["mediaType"], "size": len(raw["raw"])}


async def cancel(once):
    task = await task_of(once, request(call(LONG, {"duration": 60, "steps": 600}), blocking=False))
    canceled = MessageToDict(await once.cancel_task(pb.CancelTaskRequest(id=task["id"])))
    return {"state": canceled["status"]["state"]}


async def main(base):
    async with httpx.AsyncClient(headers={"A2A-Version": "1.0"}, timeout=PATIENCE) as http:
        card = await A2ACardResolver(http, base).get_agent_card()

        def client(streaming):
            config = ClientConfig(httpx_client=http, supported_protocol_bindings=["JSONRPC"], streaming=streaming)
            return ClientFactory(config).create(card)

        once, streaming = client(False), client(True)
        print(json.dumps({"op": "progress"} | await progress(streaming)), flush=True)
        for line in await asks(once):
            print(json.dumps(line), flush=True)
        print(json.dumps({"op": "image"} | await image(once)), flush=True)
        print(json.dumps({"op": "cancel"} | await cancel(once)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
