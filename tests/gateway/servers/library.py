"""A server on stdio with prompts and resources. `--shelf FILE` is what it has: `{prompts, resources, templates}`, read anew
each time. `--deaf METHOD` never answers that. The tool `touch` says that a resource changed, `renew` that the lists did.
"""

import argparse
import json
import os
import sys

options = argparse.ArgumentParser()
options.add_argument("--shelf", required=True)
options.add_argument("--deaf")
options = options.parse_args()

LISTS = {"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "templates"}
ODD = {"type": "hologram", "beams": 1.50, "text": "odd"}


def shelf():
    with open(options.shelf, encoding="utf-8") as file:
        return json.load(file)


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def notify(method, params=None):
    send({"method": f"notifications/{method}", **({"params": params} if params else {})})


def result_of(method, params):
    if method == "initialize":
        has = {"tools": {}, "prompts": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": True}}
        who = {"serverInfo": {"name": "library", "version": "1"}, "capabilities": has}
        return {"protocolVersion": "2025-11-25", **who}
    if method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ["touch", "renew", "who"]]
        return {"tools": tools}
    if method in LISTS:
        name = LISTS[method]
        return {"resourceTemplates" if name == "templates" else name: shelf().get(name, [])}
    if method == "resources/read":
        text = f"{os.path.basename(options.shelf)}: {params['uri']}"
        return {"contents": [{"uri": params["uri"], "text": text, "vendor": {"kept": 1.50}}]}
    if method == "prompts/get":
        return {"messages": [{"role": "user", "content": ODD}], "vendor": params["name"]}
    if method == "tools/call":
        if params["name"] == "touch":
            notify("resources/updated", {"uri": params["arguments"]["uri"]})
        if params["name"] == "renew":
            notify("resources/list_changed")
            notify("prompts/list_changed")
        return {"content": [{"type": "text", "text": "done"}]}
    return {} if method in ("resources/subscribe", "resources/unsubscribe") else None


for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message or "id" not in message or message["method"] == options.deaf:
        continue
    result = result_of(message["method"], message.get("params", {}))
    if result is None:
        send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
    else:
        send({"id": message["id"], "result": result})
