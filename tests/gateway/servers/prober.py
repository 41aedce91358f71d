"""A server whose one tool tries things, and says which of them worked."""
import json
import os
import socket
import sys


def attempt(kind, what):
    try:
        if kind == "read":
            open(what).read()
        elif kind == "write":
            open(what, "w").write("x")
        elif kind == "list":
            os.listdir(what)
        else:
            host, port = what.rsplit(":", 1)
            socket.create_connection((host, int(port)), 5).close()
        return "done"
    except OSError as error:
        return type(error).__name__


def answer(method, params):
    if method == "initialize":
        info = {"name": "prober", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": "attempt", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        tries = params["arguments"]["tries"]
        text = json.dumps([attempt(kind, what) for kind, what in tries])
        return {"content": [{"type": "text", "text": text}]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "no"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
