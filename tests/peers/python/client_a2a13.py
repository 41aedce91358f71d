"""The official Python SDK 1.3 as an A2A client. The job and the output: see a2a_driver.py."""

import os
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory, InMemoryContextCredentialStore
from a2a.client.auth import AuthInterceptor
from a2a.client.card_resolver import parse_agent_card
from a2a.client.client import ClientCallContext
from a2a.types import a2a_pb2 as pb
from a2a.utils.signing import SignatureVerificationError, create_signature_verifier
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt import PyJWK

import a2a_driver as driver
import a2a_normal as normal

CARD = "/.well-known/agent-card.json"


def wire_part(part):
    if "text" in part:
        return {"text": part["text"]}
    if "data" in part:
        return {"data": part["data"]}
    file = part["file"]
    return {"raw": file["bytes"], "filename": file["name"], "mediaType": file["mediaType"]}


def request(parts, task=None, context=None, blocking=True):
    message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [wire_part(part) for part in parts]}
    message |= ({"taskId": task} if task else {}) | ({"contextId": context} if context else {})
    configuration = {"returnImmediately": not blocking}
    return ParseDict({"message": message, "configuration": configuration}, pb.SendMessageRequest())


def task_of(task):
    return normal.task_of(MessageToDict(task), normal.part10)


def card_of(card):
    return {
        "name": card.name,
        "streaming": card.capabilities.streaming,
        "push": card.capabilities.push_notifications,
        "skills": [skill.id for skill in card.skills],
        "interfaces": [[each.protocol_binding, each.protocol_version, each.url] for each in card.supported_interfaces],
    }


def config_of(config):
    return {"id": config.id, "taskId": config.task_id, "url": config.url, "token": config.token}


async def answer(client, sent, **options):
    """What a client that does not stream gives: one task or one message."""
    async for event in client.send_message(sent, **options):
        if event.HasField("task"):
            return task_of(event.task)
        return normal.message_of(MessageToDict(event.message), normal.part10)
    raise RuntimeError("no answer")


class Peer:
    sdk = "a2a-sdk 1.3"
    has = set(driver.ORDER)

    def __init__(self, base, binding, http, card):
        self.base, self.binding, self.http, self.its_card = base, binding, http, card
        self.once, self.streaming = self.client(http, streaming=False), self.client(http, streaming=True)
        if "A2A_JWK" not in os.environ:
            self.has = self.has - {"verify_card"}
        if "A2A_KEY" not in os.environ:
            self.has = self.has - {"card_auth", "no_key"}

    def client(self, http, interceptors=None, **options):
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=[self.binding], **options)
        return ClientFactory(config).create(self.its_card, interceptors)

    async def card(self):
        return card_of(self.its_card)

    async def extended_card(self):
        return card_of(await self.once.get_extended_agent_card(pb.GetExtendedAgentCardRequest()))

    async def send(self, parts, **options):
        return await answer(self.once, request(parts, **options))

    async def stream(self, parts):
        async for event in self.streaming.send_message(request(parts)):
            yield normal.event10(MessageToDict(event))

    async def get(self, task, history=None):
        return task_of(await self.once.get_task(pb.GetTaskRequest(id=task, history_length=history)))

    async def list(self, context="", size=None, token=""):
        asked = pb.ListTasksRequest(context_id=context, page_size=size, page_token=token)
        page = await self.once.list_tasks(asked)
        ids = [task.id for task in page.tasks]
        return {"ids": ids, "next": page.next_page_token, "size": page.page_size, "total": page.total_size}

    async def cancel(self, task):
        return task_of(await self.once.cancel_task(pb.CancelTaskRequest(id=task)))

    async def resubscribe(self, task):
        async for event in self.streaming.subscribe(pb.SubscribeToTaskRequest(id=task)):
            yield normal.event10(MessageToDict(event))

    async def push_set(self, task, config, url, token):
        wanted = pb.TaskPushNotificationConfig(task_id=task, id=config, url=url, token=token)
        return config_of(await self.once.create_task_push_notification_config(wanted))

    async def push_get(self, task, config):
        asked = pb.GetTaskPushNotificationConfigRequest(task_id=task, id=config)
        return config_of(await self.once.get_task_push_notification_config(asked))

    async def push_list(self, task):
        asked = pb.ListTaskPushNotificationConfigsRequest(task_id=task)
        return [config_of(each) for each in (await self.once.list_task_push_notification_configs(asked)).configs]

    async def push_delete(self, task, config):
        gone = pb.DeleteTaskPushNotificationConfigRequest(task_id=task, id=config)
        await self.once.delete_task_push_notification_config(gone)

    async def send_as_the_card_says(self, parts):
        """The SDK finds out from the card where the key goes."""
        store, context = InMemoryContextCredentialStore(), ClientCallContext(state={"sessionId": "one"})
        for scheme in self.its_card.security_schemes:
            await store.set_credentials("one", scheme, os.environ["A2A_KEY"])
        async with httpx.AsyncClient(timeout=driver.PATIENCE) as http:
            client = self.client(http, [AuthInterceptor(store)], streaming=False)
            return await answer(client, request(parts), context=context)

    async def send_without_key(self, parts):
        async with httpx.AsyncClient(timeout=driver.PATIENCE) as http:
            return await answer(self.client(http, streaming=False), request(parts))

    async def verify_card(self, jwk):
        key = PyJWK(jwk, algorithm=jwk.get("alg"))
        verify = create_signature_verifier(lambda _kid, _jku: key, [key.algorithm_name])

        def holds(card):
            try:
                verify(card)
            except SignatureVerificationError as error:
                return type(error).__name__
            return True

        superset = parse_agent_card((await self.http.get(self.base + CARD, headers={"A2A-Version": "0.3"})).json())
        tampered = pb.AgentCard()
        tampered.CopyFrom(self.its_card)
        tampered.description += "!"
        return {"card": holds(self.its_card), "superset": holds(superset), "tampered": holds(tampered)}

    def error(self, error):
        return {"name": type(error).__name__, "message": str(error)}

    async def close(self):
        await self.http.aclose()


async def connect(base, binding):
    http = httpx.AsyncClient(headers=driver.bearer() | {"A2A-Version": "1.0"}, timeout=driver.PATIENCE)
    return Peer(base, binding, http, await A2ACardResolver(http, base).get_agent_card())


if __name__ == "__main__":
    driver.main(connect)
