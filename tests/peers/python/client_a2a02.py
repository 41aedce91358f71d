"""The official Python SDK 0.2 as an A2A client: JSON-RPC only, the card at `agent.json`. The job and the output: see
a2a_driver.py. It has no way back to a stream."""

import os
import uuid

import httpx
from a2a.client import A2ACardResolver, A2AClient
from a2a.types import (
    CancelTaskRequest,
    GetTaskPushNotificationConfigParams,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    JSONRPCErrorResponse,
    MessageSendParams,
    PushNotificationConfig,
    SendMessageRequest,
    SendStreamingMessageRequest,
    SetTaskPushNotificationConfigRequest,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
)
from a2a.utils.constants import EXTENDED_AGENT_CARD_PATH

import a2a_driver as driver
import a2a_normal as normal


class Refused(Exception):
    """The SDK hands errors over as answers."""

    def __init__(self, error):
        super().__init__(error.message)
        self.code = error.code


def result(response):
    if isinstance(response.root, JSONRPCErrorResponse):
        raise Refused(response.root.error)
    return response.root.result


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def ask(kind, **params):
    return kind(id=str(uuid.uuid4()), **params)


def sending(parts, task=None, context=None, blocking=True):
    message = normal.wire_message03(parts, task, context)
    configuration = {"blocking": blocking, "acceptedOutputModes": []}
    return MessageSendParams.model_validate({"message": message, "configuration": configuration})


def config_of(config):
    held = config.push_notification_config
    return {"id": held.id, "taskId": config.task_id, "url": held.url, "token": held.token}


class Peer:
    sdk = "a2a-sdk 0.2"
    has = set(driver.ORDER) - {"list", "resubscribe", "push_list", "push_delete", "verify_card", "card_auth"}

    def __init__(self, http, resolver, card):
        self.http, self.resolver, self.its_card = http, resolver, card
        self.client = A2AClient(http, card)
        if "A2A_KEY" not in os.environ:
            self.has = self.has - {"no_key"}

    async def card(self):
        return normal.card03(plain(self.its_card))

    async def extended_card(self):
        return normal.card03(plain(await self.resolver.get_agent_card(EXTENDED_AGENT_CARD_PATH)))

    async def send(self, parts, client=None, **options):
        sent = ask(SendMessageRequest, params=sending(parts, **options))
        return normal.result03(plain(result(await (client or self.client).send_message(sent))))

    async def stream(self, parts):
        sent = ask(SendStreamingMessageRequest, params=sending(parts))
        async for response in self.client.send_message_streaming(sent):
            yield normal.event03(plain(result(response)))

    async def get(self, task, history=None):
        asked = ask(GetTaskRequest, params=TaskQueryParams(id=task, history_length=history))
        return normal.task_of(plain(result(await self.client.get_task(asked))), normal.part03)

    async def cancel(self, task):
        asked = ask(CancelTaskRequest, params=TaskIdParams(id=task))
        return normal.task_of(plain(result(await self.client.cancel_task(asked))), normal.part03)

    async def push_set(self, task, config, url, token):
        wanted = PushNotificationConfig(id=config, url=url, token=token)
        params = TaskPushNotificationConfig(task_id=task, push_notification_config=wanted)
        asked = ask(SetTaskPushNotificationConfigRequest, params=params)
        return config_of(result(await self.client.set_task_callback(asked)))

    async def push_get(self, task, config):
        params = GetTaskPushNotificationConfigParams(id=task, push_notification_config_id=config)
        asked = ask(GetTaskPushNotificationConfigRequest, params=params)
        return config_of(result(await self.client.get_task_callback(asked)))

    async def send_without_key(self, parts):
        async with httpx.AsyncClient(timeout=driver.PATIENCE) as http:
            return await self.send(parts, client=A2AClient(http, self.its_card))

    def error(self, error):
        code = getattr(error, "code", None) or getattr(error, "status_code", None)
        return {"name": type(error).__name__, "message": str(error), "code": code}

    async def close(self):
        await self.http.aclose()


async def connect(base, _binding):
    http = httpx.AsyncClient(headers=driver.bearer(), timeout=driver.PATIENCE)
    resolver = A2ACardResolver(http, base)
    return Peer(http, resolver, await resolver.get_agent_card())


if __name__ == "__main__":
    driver.main(connect)
