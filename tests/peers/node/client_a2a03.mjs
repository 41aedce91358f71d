// The official JavaScript SDK 0.3 as an A2A client. The job and the output: see python/a2a_driver.py.

import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  createAuthenticatingFetchWithRetry,
} from 'a2a-js-03/client';

import { KEY, card03, config03, event03, keyed, main, part03, result03, sending03, taskOf } from './a2a_driver.mjs';

async function* plainEvents(events) {
  for await (const event of events) yield event03(event);
}

async function connect(base, binding) {
  const clientWith = (fetchImpl) => {
    const transport = { 'JSONRPC': JsonRpcTransportFactory, 'HTTP+JSON': RestTransportFactory }[binding];
    const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
    return new ClientFactory({ transports: [new transport({ fetchImpl })], cardResolver }).createFromUrl(base);
  };
  const client = await clientWith(keyed);
  const card = await new DefaultAgentCardResolver({ fetchImpl: keyed }).resolve(base);
  return {
    lacks: ['list', 'verify_card'],
    card: async () => card03(card),
    extendedCard: async () => card03(await (await clientWith(keyed)).getAgentCard()),
    send: async (parts, options) => result03(await client.sendMessage(sending03(parts, options))),
    stream: (parts) => plainEvents(client.sendMessageStream(sending03(parts))),
    get: async (id, historyLength) => taskOf(await client.getTask({ id, historyLength }), part03),
    cancel: async (id) => taskOf(await client.cancelTask({ id }), part03),
    resubscribe: (id) => plainEvents(client.resubscribeTask({ id })),
    pushSet: async (taskId, id, url, token) =>
      config03(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { id, url, token } })),
    pushGet: async (id, pushNotificationConfigId) =>
      config03(await client.getTaskPushNotificationConfig({ id, pushNotificationConfigId })),
    pushList: async (id) => (await client.listTaskPushNotificationConfig({ id })).map(config03),
    pushDelete: (id, pushNotificationConfigId) =>
      client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId }),
    async sendAfterRefusal(parts) {
      const handler = {
        headers: async () => ({}),
        shouldRetryWithHeaders: async (_, { status }) =>
          status === 401 ? { Authorization: `Bearer ${KEY}` } : undefined,
      };
      const retrying = await clientWith(createAuthenticatingFetchWithRetry(fetch, handler));
      return result03(await retrying.sendMessage(sending03(parts)));
    },
    sendWithoutKey: async (parts) => result03(await (await clientWith(fetch)).sendMessage(sending03(parts))),
    error: (error) => ({
      name: error.constructor.name,
      message: error.message,
      code: error.errorResponse?.error?.code ?? error.code ?? null,
    }),
  };
}

await main('@a2a-js/sdk 0.3', connect);
