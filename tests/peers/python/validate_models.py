"""Checks requests to model providers by the parameter types of the vendors' own SDKs.

Reads lines `{"wire": ..., "body": {...}}` and answers each with `{"error": null}` or `{"error": "what is wrong"}`.
Members that an SDK does not know are errors, at every level.
"""

import importlib
import json
import pkgutil
import sys

import anthropic.types
import openai.types
from google.genai import types as gemini
from ollama._types import ChatRequest
from pydantic import BaseModel, ConfigDict, TypeAdapter
from typing_extensions import is_typeddict

STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def make_strict(package):
    """The types of requests are dictionaries that let unknown members through unless they are told otherwise."""
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if ".beta" in module.name:
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if is_typeddict(value):
                value.__pydantic_config__ = STRICT


def listed(value):
    """Reads what is checked only when it is read: lists are checked item by item."""
    if isinstance(value, dict):
        return {key: listed(member) for key, member in value.items()}
    if isinstance(value, (str, bytes, BaseModel)) or not hasattr(value, "__iter__"):
        return value
    return [listed(item) for item in value]


make_strict(anthropic.types)
make_strict(openai.types)
MESSAGES = TypeAdapter(anthropic.types.message_create_params.MessageCreateParamsStreaming)
CHAT = TypeAdapter(openai.types.chat.completion_create_params.CompletionCreateParamsStreaming)
RESPONSES = TypeAdapter(openai.types.responses.response_create_params.ResponseCreateParamsStreaming)


def check_gemini(body):
    known = {"tools", "toolConfig", "systemInstruction", "generationConfig", "contents"}
    assert set(body) <= known, f"unknown members {set(body) - known}"
    for content in body["contents"]:
        gemini.Content.model_validate(content)
    for tool in body.get("tools", []):
        gemini.Tool.model_validate(tool)
    gemini.GenerationConfig.model_validate(body["generationConfig"])
    if "systemInstruction" in body:
        gemini.Content.model_validate(body["systemInstruction"])
    if "toolConfig" in body:
        gemini.ToolConfig.model_validate(body["toolConfig"])


def check_ollama(body):
    request = ChatRequest.model_validate(body)
    known = set(type(request).model_fields)
    assert set(body) <= known, f"unknown members {set(body) - known}"


CHECKS = {
    "anthropic": lambda body: listed(MESSAGES.validate_python(body)),
    "chat": lambda body: listed(CHAT.validate_python(body)),
    "responses": lambda body: listed(RESPONSES.validate_python(body)),
    "gemini": check_gemini,
    "ollama": check_ollama,
}

for line in sys.stdin:
    request = json.loads(line)
    try:
        CHECKS[request["wire"]](request["body"])
        error = None
    except Exception as problem:
        error = str(problem)[:1500]
    print(json.dumps({"error": error}), flush=True)
