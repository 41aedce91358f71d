"""What A2A peers say, in the form that all clients print: one for 1.0, one for 0.2 and 0.3."""

import uuid


def normal_state(name):
    return name.removeprefix("TASK_STATE_").lower().replace("_", "-")


def whole(value):
    """Protobuf has no integers in JSON values; 3.0 is 3 again."""
    if isinstance(value, dict):
        return {key: whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def part10(part):
    """A part of 1.0."""
    if "text" in part:
        return {"text": part["text"]}
    if "data" in part:
        return {"data": whole(part["data"])}
    file = {"name": part.get("filename"), "mediaType": part.get("mediaType")}
    return {"file": file | ({"bytes": part["raw"]} if "raw" in part else {"url": part["url"]})}


def part03(part):
    """A part of 0.2 and 0.3."""
    if part["kind"] != "file":
        return {part["kind"]: whole(part[part["kind"]])}
    file = part["file"]
    named = {"name": file.get("name"), "mediaType": file.get("mimeType")}
    return {"file": named | ({"bytes": file["bytes"]} if "bytes" in file else {"url": file["uri"]})}


def said(status, part):
    return "".join(part(each).get("text", "") for each in status.get("message", {}).get("parts", []))


def task_of(task, part):
    return {
        "id": task["id"],
        "contextId": task["contextId"],
        "state": normal_state(task["status"]["state"]),
        "said": said(task["status"], part),
        "artifacts": [
            {"name": artifact.get("name") or None, "parts": [part(each) for each in artifact["parts"]]}
            for artifact in task.get("artifacts", [])
        ],
        "history": len(task.get("history", [])),
    }


def message_of(message, part):
    return {"parts": [part(each) for each in message["parts"]], "role": message["role"].removeprefix("ROLE_").lower()}


def status_event(update, part):
    state = normal_state(update["status"]["state"])
    return {"event": f"status:{state}", "final": update.get("final"), "said": said(update["status"], part)}


def artifact_event(update, part):
    parts = [part(each) for each in update["artifact"]["parts"]]
    return {"event": "artifact+" if update.get("append") else "artifact", "parts": parts}


def event10(event):
    """A StreamResponse of 1.0."""
    if "task" in event:
        return {"event": f"task:{normal_state(event['task']['status']['state'])}"}
    if "message" in event:
        return {"event": "message"} | message_of(event["message"], part10)
    if "statusUpdate" in event:
        return status_event(event["statusUpdate"], part10)
    return artifact_event(event["artifactUpdate"], part10)


def event03(event):
    """An event of 0.2 and 0.3."""
    match event["kind"]:
        case "task":
            return {"event": f"task:{normal_state(event['status']['state'])}"}
        case "message":
            return {"event": "message"} | message_of(event, part03)
        case "status-update":
            return status_event(event, part03)
        case _:
            return artifact_event(event, part03)


def result03(result):
    return task_of(result, part03) if result["kind"] == "task" else message_of(result, part03)


def card03(card):
    return {
        "name": card["name"],
        "streaming": card["capabilities"].get("streaming", False),
        "push": card["capabilities"].get("pushNotifications", False),
        "skills": [skill["id"] for skill in card["skills"]],
    }


def wire_part03(part):
    """One of our parts in the form of 0.2 and 0.3."""
    if "text" in part:
        return {"kind": "text", "text": part["text"]}
    if "data" in part:
        return {"kind": "data", "data": part["data"]}
    file = part["file"]
    return {"kind": "file", "file": {"name": file["name"], "mimeType": file["mediaType"], "bytes": file["bytes"]}}


def wire_message03(parts, task, context):
    message = {"kind": "message", "messageId": str(uuid.uuid4()), "role": "user"}
    message["parts"] = [wire_part03(part) for part in parts]
    return message | ({"taskId": task} if task else {}) | ({"contextId": context} if context else {})
