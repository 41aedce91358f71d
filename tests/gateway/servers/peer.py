"""A server on stdio with a tool for each way to misbehave. Options say how it starts, and what it lists.

`--tools FILE` lists what the file has, read anew each time; `--pages endless|circle` goes on for ever; `--modern` speaks
the era without a handshake; `--probe silent|exit` is how it takes the question of that era; `--start-after FILE` waits for
a file; `--die TEXT` ends at once, `--die-if FILE` if that is there; `--identity N` has a name of so
many characters; `--noise N` begins with lines that are no messages; `--starts FILE` notes each start; `--resources` has
one.
"""

import argparse
import json
import os
import sys
import threading
import time

import tricks

options = argparse.ArgumentParser()
options.add_argument("--tools")
options.add_argument("--pages", choices=["endless", "circle"])
options.add_argument("--modern", action="store_true")
options.add_argument("--probe", choices=["silent", "exit"])
options.add_argument("--start-after")
options.add_argument("--die")
options.add_argument("--die-if")
options.add_argument("--identity", type=int)
options.add_argument("--noise", type=int, default=0)
options.add_argument("--starts")
options.add_argument("--resources", action="store_true")
options = options.parse_args()

LOOK_EVERY = 0.01
SCHEMA = {"type": "object"}
ECHO = {"name": "echo", "description": "Gives the text back.", "inputSchema": SCHEMA}


class Peer:
    """What the tools have to work with."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answers = {}
        self.answered = threading.Condition()
        self.cancelled = []
        self.lists = 0

    def write(self, raw):
        with self.lock:
            sys.stdout.buffer.write(raw)
            sys.stdout.buffer.flush()

    def send(self, message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def result(self, request, result):
        if options.modern:
            result = {"resultType": "complete", **result}
        self.send({"id": request["id"], "result": result})

    def refuse(self, request, text="no such method", code=-32601):
        self.send({"id": request["id"], "error": {"code": code, "message": text}})

    def say(self, request, text):
        self.result(request, {"content": [{"type": "text", "text": text}]})

    def ask(self, id, method, params):
        """A question of ours, and the whole answer to it."""
        self.send({"id": id, "method": method, "params": params})
        with self.answered:
            self.answered.wait_for(lambda: id in self.answers, timeout=60)
            return self.answers.pop(id, None)

    def page(self, request):
        self.lists += 1
        tools = [ECHO] + [{"name": name, "inputSchema": SCHEMA} for name in sorted(tricks.TRICKS)]
        if options.tools:
            with open(options.tools, encoding="utf-8") as file:
                tools = json.load(file)
        cached = {"ttlMs": 0, "cacheScope": "private"} if options.modern else {}
        if options.pages:
            tools = [{"name": f"tool-{self.lists}", "inputSchema": SCHEMA}]
            cached["nextCursor"] = "again" if options.pages == "circle" else f"page-{self.lists}"
        self.result(request, {"tools": tools, **cached})

    def discover(self, request):
        if options.probe == "exit":
            os._exit(3)
        if options.modern:
            versions = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
            self.result(request, {**versions, "ttlMs": 0, "cacheScope": "private"})
        elif options.probe != "silent":
            self.refuse(request)

    def asked(self, request):
        method, params = request["method"], request.get("params", {})
        if method == "server/discover":
            self.discover(request)
        elif method == "initialize" and not options.modern:
            long = "\u001b[31m" + "x" * options.identity if options.identity else "peer"
            who = {"serverInfo": {"name": long, "title": long, "version": long}, "instructions": long}
            has = {"capabilities": {"tools": {"listChanged": True}, **({"resources": {}} if options.resources else {})}}
            self.result(request, {"protocolVersion": "2025-11-25", **who, **has})
        elif method == "tools/list":
            self.page(request)
        elif method == "tools/call" and params["name"] in tricks.TRICKS:
            tricks.TRICKS[params["name"]](self, request, params.get("arguments", {}))
        elif method == "tools/call":
            self.say(request, params.get("arguments", {}).get("text", ""))
        elif method == "resources/read" and options.resources:
            self.result(request, {"contents": [{"uri": params["uri"], "text": "what is in it"}]})
        elif method == "subscriptions/listen":
            self.send({"method": "notifications/subscriptions/acknowledged", "params": {}})
        else:
            self.refuse(request)

    def take(self, line):
        message = json.loads(line)
        if "method" not in message:
            with self.answered:
                self.answers[message["id"]] = message
                self.answered.notify_all()
        elif "id" in message:
            threading.Thread(target=self.asked, args=(message,), daemon=True).start()
        elif message["method"] == "notifications/cancelled":
            self.cancelled.append(message["params"]["requestId"])

    def run(self):
        for line in sys.stdin.buffer:
            self.take(line)


if options.starts:
    with open(options.starts, "a", encoding="utf-8") as starts:
        starts.write(f"{os.getpid()}\n")
if options.die is not None:
    sys.exit(options.die)
if options.die_if and os.path.exists(options.die_if):
    sys.exit("told to die")
while options.start_after and not os.path.exists(options.start_after):
    time.sleep(LOOK_EVERY)
peer = Peer()
for number in range(options.noise):
    peer.write(b"loading module %d of many\n" % number)
peer.run()
