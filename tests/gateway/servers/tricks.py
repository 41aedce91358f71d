"""The ways to misbehave: each is a tool of `peer.py`, with the request that calls it and the arguments."""

import json
import os
import signal
import subprocess
import sys
import time

LOOK_EVERY = 0.01
TRICKS = {}


def trick(function):
    TRICKS[function.__name__] = function
    return function


@trick
def pid(peer, request, _):
    peer.say(request, str(os.getpid()))


@trick
def strange_blocks(peer, request, _):
    """Blocks and members that no revision has, beside ones that it has."""
    text = {"type": "text", "text": "t", "annotations": {"audience": ["user"], "priority": 0.5}, "_meta": {"x": 1}}
    link = {"type": "resource_link", "uri": "a://b", "name": "b", "title": "B", "size": 3, "icons": []}
    other = {"vendor": [1, 2.50], "type": "hologram"}
    peer.result(request, {"content": [text, link, other], "vendor": {"kept": 1.5}})


@trick
def after(peer, request, arguments):
    """Gives the text back after a while."""
    time.sleep(arguments["seconds"])
    peer.say(request, arguments["text"])


@trick
def noise(peer, request, arguments):
    """Lines that are no messages, then the answer."""
    for number in range(arguments["lines"]):
        peer.write(b"[info] step %d\n" % number)
    peer.say(request, "after the noise")


@trick
def complain(peer, request, arguments):
    """So many bytes on stderr, in lines of so many, then the answer."""
    line = b"x" * (arguments["line"] - 1) + b"\n"
    for _ in range(arguments["bytes"] // len(line)):
        sys.stderr.buffer.write(line)
    sys.stderr.buffer.flush()
    peer.say(request, "complained")


@trick
def huge(peer, request, arguments):
    """An answer of at least so many bytes, in one line and written piece by piece."""
    piece = b"x" * 65536
    start = {"jsonrpc": "2.0", "id": request["id"], "result": {"content": [{"type": "text", "text": "@"}]}}
    head, tail = json.dumps(start).encode().split(b"@")
    # Nothing else comes in between: we are told that it is too large before all of it is written.
    with peer.lock:
        sys.stdout.buffer.write(head)
        for _ in range(arguments["bytes"] // len(piece)):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.write(tail + b"\n")
        sys.stdout.buffer.flush()


@trick
def twice(peer, request, _):
    peer.say(request, "first")
    peer.say(request, "second")


@trick
def other_ids(peer, request, arguments):
    """Answers to nothing that was asked; the right one at the end, if it is wanted."""
    wrong = {"content": [{"type": "text", "text": "wrong"}]}
    for id in [request["id"] + 1000, str(request["id"]), None, 1.5, -1]:
        peer.send({"id": id, "result": wrong})
    peer.send({"result": wrong})
    if arguments.get("right"):
        peer.say(request, "right")


@trick
def not_utf8(peer, request, _):
    peer.write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"\xff\xfe"}]}}\n' % request["id"])
    peer.say(request, "this is UTF-8")


@trick
def half(peer, request, _):
    peer.write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"te' % request["id"])
    os._exit(0)


@trick
def die(_, __, arguments):
    print("about to die", file=sys.stderr, flush=True)
    if arguments.get("signal"):
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(arguments.get("code", 7))


@trick
def ping(peer, request, _):
    peer.say(request, json.dumps(peer.ask("ping-1", "ping", {})))


@trick
def pings(peer, request, arguments):
    """So many pings, as fast as they can be written."""
    for number in range(arguments["count"]):
        peer.send({"id": f"flood-{number}", "method": "ping"})
    peer.say(request, "pinged")


@trick
def pings_for_ever(peer, request, _):
    """Pings without end, by somebody who takes nothing from its stdin any more."""
    peer.take = lambda _: time.sleep(3600)
    peer.say(request, "listen")
    while True:
        peer.write(b'{"jsonrpc":"2.0","id":"flood","method":"ping"}\n' * 1000)


@trick
def ask(peer, request, arguments):
    """Asks the caller, and tells what the answer was."""
    peer.say(request, json.dumps(peer.ask("question", arguments["method"], arguments.get("params", {}))))


@trick
def needs_input(peer, request, _):
    """Asks the caller in the manner of the newest revision."""
    form = {"message": "which?", "requestedSchema": {"type": "object", "properties": {}}}
    questions = {"one": {"method": "elicitation/create", "params": form}}
    peer.send({"id": request["id"], "result": {"resultType": "input_required", "inputRequests": questions}})


@trick
def progress(peer, request, arguments):
    """Takes steps and tells of each."""
    token = request["params"]["_meta"]["progressToken"]
    for step in range(arguments["steps"]):
        time.sleep(arguments["seconds"])
        peer.send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step + 1}})
    peer.say(request, "all steps taken")


@trick
def late(peer, request, _):
    """Answers only when nobody wants it any more."""
    while request["id"] not in peer.cancelled:
        time.sleep(LOOK_EVERY)
    peer.say(request, "too late")


@trick
def cancelled(peer, request, _):
    peer.say(request, str(len(peer.cancelled)))


@trick
def never(_, __, ___):
    pass


@trick
def deaf(peer, request, _):
    """Says that it heard, and takes nothing from its stdin any more."""
    peer.take = lambda _: time.sleep(3600)
    peer.say(request, "deaf from now on")


@trick
def storm(peer, request, arguments):
    for _ in range(arguments["count"]):
        peer.send({"method": "notifications/tools/list_changed"})
    peer.say(request, "told")


@trick
def change_for_ever(peer, request, _):
    """Says without end that its list changed."""
    peer.say(request, "changing")
    while True:
        peer.send({"method": "notifications/tools/list_changed"})
        time.sleep(0.001)


@trick
def stall(peer, request, _):
    """Never lists anything again, and says that its list changed."""
    peer.page = lambda _: None
    peer.say(request, "stalled")
    peer.send({"method": "notifications/tools/list_changed"})


@trick
def hang_up(_, __, ___):
    """Closes its stdout, and stays."""
    os.close(1)


@trick
def lists(peer, request, _):
    """How often it was asked for its tools."""
    peer.say(request, str(peer.lists))


@trick
def environment(peer, request, _):
    peer.say(request, json.dumps(dict(os.environ)))


@trick
def litter(peer, request, _):
    """Starts a process that outlives it, as far as that is possible."""
    child = subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    peer.say(request, str(child.pid))


@trick
def structured(peer, request, arguments):
    """A structured result as it is given."""
    peer.result(request, {"content": [], "structuredContent": arguments["value"], "isError": arguments.get("error", False)})


@trick
def raw(peer, request, arguments):
    """A result as it is given."""
    peer.send({"id": request["id"], "result": arguments["result"]})
