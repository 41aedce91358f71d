"""The official Python SDK 0.3 as an A2A client. The job and the output: see a2a_driver.py."""

import os

import httpx
from a2a.client import A2ACardResolver, AuthInterceptor, ClientConfig, ClientFactory, InMemoryContextCredentialStore
from a2a.client.middleware import ClientCallContext
from a2a.types import (
    GetTaskPushNotificationConfigParams,
    Message,
    MessageSendConfiguration,
    PushNotificationConfig,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
)

import a2a_driver as driver
import a2a_normal as normal


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def config_of(config):
    held = config.push_notification_config
    return {"id": held.id, "taskId": config.task_id, "url": held.url, "token": held.token}


def event_of(event):
    """The client gives the task so far and what changed it."""
    if not isinstance(event, tuple):
        return normal.event03(plain(event))
    task, update = event
    return normal.event03(plain(update or task))


async def answer(client, parts, task=None, context=None, blocking=True, call=None):
    message = Message.model_validate(normal.wire_message03(parts, task, context))
    async for event in client.send_message(
        message, configuration=MessageSendConfiguration(blocking=blocking), context=call
    ):
        return normal.result03(plain(event[0] if isinstance(event, tuple) else event))
    raise RuntimeError("no answer")


class Peer:
    sdk = "a2a-sdk 0.3"
    has = set(driver.ORDER) - {"list", "push_list", "push_delete", "verify_card"}

    def __init__(self, binding, http, card):
        self.binding, self.http, self.its_card = binding, http, card
        self.once, self.streaming = self.client(http, streaming=False), self.client(http, streaming=True)
        if "A2A_KEY" not in os.environ:
            self.has = self.has - {"card_auth", "no_key"}
        # Over HTTP+JSON this SDK does not ask its interceptors.
        if binding != "JSONRPC":
            self.has = self.has - {"card_auth"}

    def client(self, http, interceptors=None, **options):
        config = ClientConfig(
            httpx_client=http, supported_transports=[self.binding], use_client_preference=True, **options
        )
        return ClientFactory(config).create(self.its_card, interceptors=interceptors)

    async def card(self):
        return normal.card03(plain(self.its_card))

    async def extended_card(self):
        client = self.client(self.http, streaming=False)
        return normal.card03(plain(await client.get_card()))

    async def send(self, parts, **options):
        return await answer(self.once, parts, **options)

    async def stream(self, parts):
        message = Message.model_validate(normal.wire_message03(parts, None, None))
        async for event in self.streaming.send_message(message):
            yield event_of(event)

    async def get(self, task, history=None):
        found = await self.once.get_task(TaskQueryParams(id=task, history_length=history))
        return normal.task_of(plain(found), normal.part03)

    async def cancel(self, task):
        return normal.task_of(plain(await self.once.cancel_task(TaskIdParams(id=task))), normal.part03)

    async def resubscribe(self, task):
        async for event in self.streaming.resubscribe(TaskIdParams(id=task)):
            yield event_of(event)

    async def push_set(self, task, config, url, token):
        wanted = PushNotificationConfig(id=config, url=url, token=token)
        return config_of(
            await self.once.set_task_callback(TaskPushNotificationConfig(task_id=task, push_notification_config=wanted))
        )

    async def push_get(self, task, config):
        asked = GetTaskPushNotificationConfigParams(id=task, push_notification_config_id=config)
        return config_of(await self.once.get_task_callback(asked))

    async def send_as_the_card_says(self, parts):
        """The SDK finds out from the card where the key goes."""
        store, call = InMemoryContextCredentialStore(), ClientCallContext(state={"sessionId": "one"})
        for scheme in self.its_card.security_schemes or {}:
            await store.set_credentials("one", scheme, os.environ["A2A_KEY"])
        async with httpx.AsyncClient(timeout=driver.PATIENCE) as http:
            return await answer(self.client(http, [AuthInterceptor(store)], streaming=False), parts, call=call)

    async def send_without_key(self, parts):
        async with httpx.AsyncClient(timeout=driver.PATIENCE) as http:
            return await answer(self.client(http, streaming=False), parts)

    def error(self, error):
        code = getattr(getattr(error, "error", None), "code", None) or getattr(error, "status_code", None)
        return {"name": type(error).__name__, "message": str(error), "code": code}

    async def close(self):
        await self.http.aclose()


async def connect(base, binding):
    http = httpx.AsyncClient(headers=driver.bearer(), timeout=driver.PATIENCE)
    return Peer(binding, http, await A2ACardResolver(http, base).get_agent_card())


if __name__ == "__main__":
    driver.main(connect)
