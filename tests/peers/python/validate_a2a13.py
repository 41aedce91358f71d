"""Judges A2A 1.0 messages by the official SDK's own types, with everything unknown to them refused.

Each line of the standard input is `{"type": ..., "value": {...}}`; each line of the output is `{"ok": true}` or
`{"ok": false, "error": ...}`, in the same order. A value must also have what the specification requires of it, which
parsing alone does not ask for.
"""

import json
import sys

from a2a.types import a2a_pb2
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.json_format import ParseDict

TYPES = [
    "AgentCard",
    "ListTaskPushNotificationConfigsResponse",
    "ListTasksResponse",
    "Message",
    "SendMessageResponse",
    "StreamResponse",
    "Task",
    "TaskPushNotificationConfig",
]
PAGE = ["tasks", "nextPageToken", "pageSize", "totalSize"]


def fault(kind, value):
    if kind not in TYPES:
        return f"{kind} is none of {', '.join(TYPES)}"
    try:
        message = ParseDict(value, getattr(a2a_pb2, kind)(), ignore_unknown_fields=False)
        if kind != "ListTasksResponse":
            validate_proto_required_fields(message)
        # Its members are required, but a page without tasks is a page: they must be written, not be filled.
        elif missing := [name for name in PAGE if name not in value]:
            return f"it lacks {', '.join(missing)}"
        else:
            for task in message.tasks:
                validate_proto_required_fields(task)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
        return f"{type(error).__name__}: {error} {getattr(error, 'data', None) or ''}".strip()
    # A oneof that nothing was chosen of parses, but says nothing.
    chosen = message.DESCRIPTOR.oneofs_by_name.get("payload")
    if chosen is not None and message.WhichOneof("payload") is None:
        return "it holds nothing"
    return None


def main():
    for line in sys.stdin:
        said = json.loads(line)
        error = fault(said["type"], said["value"])
        print(json.dumps({"ok": True} if error is None else {"ok": False, "error": error}), flush=True)


if __name__ == "__main__":
    main()
