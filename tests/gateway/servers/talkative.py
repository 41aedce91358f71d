"""A server that repeats the secret it was given, `A_TOKEN`, in everything it says, escaped as JSON escapes it."""

import base64
import json
import os
import sys

SECRET = os.environ["A_TOKEN"]
TEXT = f"as JSON: {json.dumps({'key': SECRET})}, as it is: {SECRET}"
SCHEMA = {"type": "object", "description": TEXT, "properties": {f"a {SECRET}": {"description": TEXT}}}
BLOB = base64.b64encode(f"x{SECRET}y".encode()).decode()
CONTENTS = [{"uri": "a://b", "text": TEXT, "_meta": {SECRET: TEXT}}, {"uri": "a://c", "blob": BLOB}]
ENTRY = {"description": TEXT, "title": TEXT, "_meta": {"a/b": TEXT}}
LINK = {"type": "resource_link", "uri": f"a://b?{SECRET}", "name": TEXT}
CONTENT = [
    {"type": "text", "text": TEXT, "_meta": {"a/b": TEXT}},
    LINK,
    {"type": "resource", "resource": CONTENTS[0]},
    {"type": "image", "data": BLOB, "mimeType": "image/png"},
]

RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": TEXT, "title": TEXT, "version": TEXT},
        "instructions": TEXT,
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "completions": {}, "logging": {}},
    },
    "tools/list": {
        "tools": [
            {"name": name, "inputSchema": SCHEMA, "annotations": {"title": TEXT, "readOnlyHint": True}, **ENTRY}
            for name in ["tell", "fail", "ask", "sample"]
        ]
        + [{"name": f"x-{SECRET}", "inputSchema": {"type": "nothing", "description": TEXT}}]
    },
    "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "a", "description": TEXT}], **ENTRY}]},
    "prompts/get": {
        "description": TEXT,
        "messages": [{"role": "user", "content": {"type": "text", "text": TEXT}}],
    },
    "resources/list": {"resources": [{"uri": "a://b", "name": "b", **ENTRY}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "a://{x}", "name": "x", **ENTRY}]},
    "resources/read": {"contents": CONTENTS},
    "completion/complete": {"completion": {"values": [SECRET, TEXT]}},
    "logging/setLevel": {},
}
QUESTIONS = {
    "ask": (
        "elicitation/create",
        {
            "message": TEXT,
            "requestedSchema": {"type": "object", "properties": {"a": {"type": "string", "description": TEXT}}},
        },
    ),
    "sample": (
        "sampling/createMessage",
        {
            "messages": [{"role": "user", "content": {"type": "text", "text": TEXT}}],
            "systemPrompt": TEXT,
            "maxTokens": 9,
        },
    ),
}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def call(id, params):
    name = params["name"]
    if name in QUESTIONS:
        method, asked = QUESTIONS[name]
        return send({"id": f"question-{id}", "method": method, "params": asked})
    print(TEXT, file=sys.stderr, flush=True)
    token = params.get("_meta", {}).get("progressToken")
    if token is not None:
        told = {"progressToken": token, "progress": 1, "message": TEXT}
        send({"method": "notifications/progress", "params": told})
    send({"method": "notifications/message", "params": {"level": "error", "logger": TEXT, "data": {SECRET: TEXT}}})
    if name == "fail":
        return send({"id": id, "error": {"code": -32000, "message": TEXT, "data": {SECRET: TEXT}}})
    send({"id": id, "result": {"content": CONTENT, "structuredContent": {SECRET: TEXT}, "_meta": {"a/b": TEXT}}})


for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if id is None or method is None:
        continue
    if method == "tools/call":
        call(id, message["params"])
    elif method in RESULTS:
        send({"id": id, "result": RESULTS[method]})
    else:
        send({"id": id, "error": {"code": -32601, "message": TEXT}})
