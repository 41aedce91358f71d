"""The part of an A2A client that does not depend on the SDK: the job, in an order, and one line of JSON for each operation.

    client_a2aNN.py BASE_URL (JSONRPC | HTTP+JSON) [OPERATION,...]

The environment may have A2A_KEY (sent as a bearer credential), A2A_HOOK (the address that push notifications go to) and
A2A_JWK (a file with the public key that cards are signed with). The agent behind the address plays
`tests/peers/a2a/script.toml`.

A line is `{"op": ..., "ok": true, ...}` with what came back, or `ok: false` and the error that the SDK raised. Tasks are
`{id, contextId, state, said, artifacts, history}`, parts are `{text}`, `{data}` or `{file}`, states have the names of 0.3;
so that one test can judge all clients. The end is 0 when the script itself came to its end, whatever was answered.
"""

import asyncio
import base64
import json
import os
import sys
import uuid

# Long enough for a loaded machine; nothing waits for it when things go well.
PATIENCE = 60
TOOL = {"tool": "add_numbers", "arguments": {"a": 3, "b": 7}}
FILE = {"name": "three.bin", "mediaType": "application/x-three", "bytes": base64.b64encode(b"\x01\x02\x03").decode()}
CONFIG = "hook-1"
MAX_EVENTS = 1000


def text(value):
    return {"text": value}


class Job:
    """Every operation. `peer` is the SDK's side; what it does not have in `has` is left out."""

    def __init__(self, peer):
        self.peer = peer
        self.hook = os.environ.get("A2A_HOOK", "https://example.com/hook")
        self.done = None

    async def completed(self):
        """A task that is completed, made once."""
        if self.done is None:
            self.done = await self.peer.send([text("hello")])
        return self.done

    async def running(self):
        """A task that works until it is canceled."""
        return await self.peer.send([text("slow")], blocking=False)

    async def card(self):
        return await self.peer.card()

    async def send(self):
        return {"task": await self.completed()}

    async def reply(self):
        return {"message": await self.peer.send([text("reply")])}

    async def data(self):
        return {"task": await self.peer.send([{"data": TOOL}])}

    async def file(self):
        return {"task": await self.peer.send([text("take this"), {"file": FILE}])}

    async def artifacts(self):
        return {"task": await self.peer.send([text("artifacts")])}

    async def states(self):
        words = ("fail", "reject", "auth")
        return {word: await self.peer.send([text(word)]) for word in words}

    async def stream(self):
        return heard([event async for event in bounded(self.peer.stream([text("stream")]))])

    async def stream_reply(self):
        return heard([event async for event in bounded(self.peer.stream([text("reply")]))])

    async def get(self):
        done = await self.completed()
        whole = await self.peer.get(done["id"])
        bare = await self.peer.get(done["id"], history=0)
        return {"task": whole, "same": whole["id"] == done["id"], "bareHistory": bare["history"]}

    async def list(self):
        done = await self.completed()
        mine = await self.peer.list(context=done["contextId"])
        page = await self.peer.list(size=1)
        after = await self.peer.list(size=1, token=page["next"])
        return {
            "count": len(mine["ids"]),
            "found": done["id"] in mine["ids"],
            "pageCount": len(page["ids"]),
            "pageSize": page["size"],
            "more": page["next"] != "",
            "moves": page["ids"] != after["ids"],
            "total": page["total"],
        }

    async def cancel(self):
        begun = await self.running()
        canceled = await self.peer.cancel(begun["id"])
        after = await self.peer.get(begun["id"])
        return {"before": begun["state"], "task": canceled, "after": after["state"]}

    async def not_cancelable(self):
        done = await self.completed()
        return await refused(self.peer, self.peer.cancel(done["id"]))

    async def resubscribe(self):
        begun = await self.running()
        events = []
        async for event in bounded(self.peer.resubscribe(begun["id"])):
            events.append(event)
            # Only now: somebody listens, so that the end must reach them.
            if len(events) == 1:
                await self.peer.cancel(begun["id"])
        return heard(events)

    async def push_set(self):
        done = await self.completed()
        return {"config": await self.peer.push_set(done["id"], CONFIG, self.hook, "secret-token")}

    async def push_get(self):
        done = await self.completed()
        return {"config": await self.peer.push_get(done["id"], CONFIG)}

    async def push_list(self):
        done = await self.completed()
        return {"configs": await self.peer.push_list(done["id"])}

    async def push_delete(self):
        done = await self.completed()
        await self.peer.push_delete(done["id"], CONFIG)
        return {"left": len(await self.peer.push_list(done["id"]))}

    async def multi_turn(self):
        asked = await self.peer.send([text("ask")])
        answered = await self.peer.send([text("three")], task=asked["id"], context=asked["contextId"])
        return {
            "asked": asked,
            "answered": answered,
            "sameTask": asked["id"] == answered["id"],
            "sameContext": asked["contextId"] == answered["contextId"],
        }

    async def context(self):
        done = await self.completed()
        again = await self.peer.send([text("hello")], context=done["contextId"])
        return {"sameContext": again["contextId"] == done["contextId"], "sameTask": again["id"] == done["id"]}

    async def not_found(self):
        return await refused(self.peer, self.peer.get(str(uuid.uuid4())))

    async def extended_card(self):
        return await self.peer.extended_card()

    async def card_auth(self):
        return {"task": await self.peer.send_as_the_card_says([text("hello")])}

    async def no_key(self):
        return await refused(self.peer, self.peer.send_without_key([text("hello")]))

    async def verify_card(self):
        with open(os.environ["A2A_JWK"], encoding="utf-8") as file:
            return await self.peer.verify_card(json.load(file))


ORDER = [name for name in vars(Job) if not name.startswith("_") and name not in ("completed", "running")]


async def refused(peer, call):
    """What an operation that must not work says."""
    try:
        answer = await call
    except Exception as error:  # noqa: BLE001 - every SDK has its own
        return {"refused": peer.error(error)}
    return {"refused": None, "answer": answer}


async def bounded(events):
    count = 0
    async for event in events:
        yield event
        count += 1
        if count == MAX_EVENTS:
            raise RuntimeError("the stream does not end")


def heard(events):
    """A stream in short: what came, in order, and the text of it all."""
    texts = [part["text"] for event in events for part in event.get("parts", []) if "text" in part]
    return {"events": [event["event"] for event in events], "text": "".join(texts), "final": events[-1].get("final")}


def bearer():
    key = os.environ.get("A2A_KEY")
    return {"Authorization": f"Bearer {key}"} if key else {}


def say(line):
    print(json.dumps(line), flush=True)


async def work(connect, base, binding, wanted):
    peer = await connect(base, binding)
    job = Job(peer)
    able = [name for name in ORDER if name in peer.has]
    say({"op": "client", "ok": True, "sdk": peer.sdk, "binding": binding, "ops": able})
    for name in wanted or able:
        try:
            async with asyncio.timeout(PATIENCE):
                facts = await getattr(job, name)()
            say({"op": name, "ok": True} | facts)
        except Exception as error:  # noqa: BLE001 - what failed is a fact like any other
            say({"op": name, "ok": False, "error": peer.error(error)})
    await peer.close()


def main(connect):
    base, binding, *rest = sys.argv[1:]
    asyncio.run(work(connect, base, binding, rest[0].split(",") if rest else []))
