// The official JavaScript SDK 1.3 as an A2A client. The job and the output: see python/a2a_driver.py.

import { randomUUID } from 'node:crypto';

import {
  ListTasksRequest,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  verifyAgentCardSignature,
} from 'a2a-js-13';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  createAuthenticatingFetchWithRetry,
} from 'a2a-js-13/client';

import { KEY, event10, keyed, main, messageOf, part10, taskOf } from './a2a_driver.mjs';

function wirePart(part) {
  if (!part.file) return part;
  return { raw: part.file.bytes, filename: part.file.name, mediaType: part.file.mediaType };
}

function request(parts, { task, context, blocking = true } = {}) {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: parts.map(wirePart) };
  if (task) message.taskId = task;
  if (context) message.contextId = context;
  return SendMessageRequest.fromJSON({ message, configuration: { returnImmediately: !blocking } });
}

const plainTask = (task) => taskOf(Task.toJSON(task), part10);

function answer(result) {
  return result.messageId === undefined ? plainTask(result) : messageOf(Message.toJSON(result), part10);
}

const cardOf = (card) => ({
  name: card.name,
  streaming: card.capabilities.streaming ?? false,
  push: card.capabilities.pushNotifications ?? false,
  skills: card.skills.map(({ id }) => id),
  interfaces: card.supportedInterfaces.map((each) => [each.protocolBinding, each.protocolVersion, each.url]),
});

const configOf = ({ id, taskId, url, token }) => ({ id, taskId, url, token });

async function* plainEvents(events) {
  for await (const event of events) yield event10(StreamResponse.toJSON(event));
}

async function connect(address, binding) {
  // The resolver takes what stands after the last slash for a file.
  const base = address.endsWith('/') ? address : `${address}/`;
  const clientWith = (fetchImpl) => {
    const transport = { 'JSONRPC': JsonRpcTransportFactory, 'HTTP+JSON': RestTransportFactory }[binding];
    const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
    return new ClientFactory({ transports: [new transport({ fetchImpl })], cardResolver }).createFromUrl(base);
  };
  const client = await clientWith(keyed);
  const resolver = new DefaultAgentCardResolver({ fetchImpl: keyed });
  const card = await resolver.resolve(base);
  return {
    lacks: [],
    card: async () => cardOf(card),
    extendedCard: async () => cardOf(await (await clientWith(keyed)).getAgentCard()),
    send: async (parts, options) => answer(await client.sendMessage(request(parts, options))),
    stream: (parts) => plainEvents(client.sendMessageStream(request(parts))),
    get: async (id, historyLength) => plainTask(await client.getTask({ tenant: '', id, historyLength })),
    async list({ context = '', size, token = '' }) {
      const asked = ListTasksRequest.fromJSON({ contextId: context, pageSize: size, pageToken: token });
      const page = await client.listTasks(asked);
      const ids = page.tasks.map(({ id }) => id);
      return { ids, next: page.nextPageToken, size: page.pageSize, total: page.totalSize };
    },
    cancel: async (id) => plainTask(await client.cancelTask({ tenant: '', id })),
    resubscribe: (id) => plainEvents(client.resubscribeTask({ tenant: '', id })),
    pushSet: async (taskId, id, url, token) =>
      configOf(await client.createTaskPushNotificationConfig({ tenant: '', taskId, id, url, token })),
    pushGet: async (taskId, id) => configOf(await client.getTaskPushNotificationConfig({ tenant: '', taskId, id })),
    async pushList(taskId) {
      const page = await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' });
      return page.configs.map(configOf);
    },
    pushDelete: (taskId, id) => client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id }),
    async sendAfterRefusal(parts) {
      const handler = {
        headers: async () => ({}),
        shouldRetryWithHeaders: async (_, { status }) =>
          status === 401 ? { Authorization: `Bearer ${KEY}` } : undefined,
      };
      const retrying = await clientWith(createAuthenticatingFetchWithRetry(fetch, handler));
      return answer(await retrying.sendMessage(request(parts)));
    },
    sendWithoutKey: async (parts) => answer(await (await clientWith(fetch)).sendMessage(request(parts))),
    async verifyCard(jwk) {
      const verify = verifyAgentCardSignature(async () => jwk);
      const holds = (card) => verify(card).then(() => true, (error) => error.message);
      const url = new URL('/.well-known/agent-card.json', base);
      // As it was fetched: what the resolver makes of security schemes the verifier drops.
      const fetched = async (version) => (await keyed(url, { headers: { 'A2A-Version': version } })).json();
      const [strict, superset] = [await fetched('1.0'), await fetched('0.3')];
      const tampered = { ...strict, description: `${strict.description}!` };
      return {
        card: await holds(strict),
        superset: await holds(superset),
        tampered: await holds(tampered),
      };
    },
    error: ({ name, message, code }) => ({ name, message, code: code ?? null }),
  };
}

await main('@a2a-js/sdk 1.3', connect);
