// The official JavaScript SDK 0.2 as an A2A client: JSON-RPC only, the card at `agent.json`. The job and the output: see
// python/a2a_driver.py. It takes no `fetch` of ours, so the key goes into the one of the process.

import { A2AClient } from 'a2a-js-02/client';

import { KEY, card03, config03, event03, main, part03, result03, sending03, taskOf } from './a2a_driver.mjs';

const plain = globalThis.fetch;

function keyed(url, init = {}) {
  const headers = new Headers(init.headers);
  headers.set('Authorization', `Bearer ${KEY}`);
  return plain(url, { ...init, headers });
}

/** The SDK hands errors over as answers. */
class Refused extends Error {
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

function result(response) {
  if ('error' in response) throw new Refused(response.error);
  return response.result;
}

async function* plainEvents(events) {
  for await (const event of events) yield event03(event);
}

async function connect(base) {
  if (KEY) globalThis.fetch = keyed;
  const client = new A2AClient(base);
  const card = await client.getAgentCard();
  return {
    lacks: ['list', 'push_list', 'push_delete', 'auth_retry', 'verify_card'],
    card: async () => card03(card),
    extendedCard: async () => card03(await client.getAgentCard(base, 'agent/authenticatedExtendedCard')),
    send: async (parts, options) => result03(result(await client.sendMessage(sending03(parts, options)))),
    stream: (parts) => plainEvents(client.sendMessageStream(sending03(parts))),
    get: async (id, historyLength) => taskOf(result(await client.getTask({ id, historyLength })), part03),
    cancel: async (id) => taskOf(result(await client.cancelTask({ id })), part03),
    resubscribe: (id) => plainEvents(client.resubscribeTask({ id })),
    pushSet: async (taskId, id, url, token) => {
      const pushNotificationConfig = { id, url, token };
      return config03(result(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig })));
    },
    pushGet: async (id, pushNotificationConfigId) =>
      config03(result(await client.getTaskPushNotificationConfig({ id, pushNotificationConfigId }))),
    async sendWithoutKey(parts) {
      globalThis.fetch = plain;
      return result03(result(await client.sendMessage(sending03(parts)))).state;
    },
    error: ({ constructor, message, code }) => ({ name: constructor.name, message, code: code ?? null }),
  };
}

await main('@a2a-js/sdk 0.2', connect);
