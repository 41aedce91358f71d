"""A server on stdio with skills, as a file describes them: a list of skills, and the texts of resources by URI.

The file is read anew for each request.
"""

import base64
import json
import sys

SKILLS = "io.modelcontextprotocol/skills"


def described():
    with open(sys.argv[1]) as file:
        return json.load(file)


def result_of(method, params):
    if method == "initialize":
        capabilities = {"resources": {}, "extensions": {SKILLS: {}}}
        info = {"name": "shelf", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    if method == "skills/list":
        return {"skills": described()["skills"]}
    if method == "resources/list":
        return {"resources": []}
    if method == "resources/templates/list":
        return {"resourceTemplates": []}
    if method == "resources/read":
        text = described()["resources"].get(params["uri"])
        if text is None:
            return None
        if text.startswith("base64:"):
            return {"contents": [{"uri": params["uri"], "blob": text[7:]}]}
        return {"contents": [{"uri": params["uri"], "text": text}]}
    if method == "ping":
        return {}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = result_of(message.get("method"), message.get("params") or {})
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        answer["error"] = {"code": -32601, "message": "unknown"}
    else:
        answer["result"] = result
    print(json.dumps(answer), flush=True)
