// An agent on the official JavaScript SDK 1.3, to be measured beside: every message makes a task with one artifact, kept
// in the SDK's own memory store, over JSON-RPC on /. The argument is the port; the address is printed once it listens.

import { randomUUID } from 'node:crypto';

import { AgentCard, Task } from 'a2a-js-13';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-js-13/server';
import { UserBuilder, jsonRpcHandler } from 'a2a-js-13/server/express';
import express from 'express';

class Echo {
  async execute({ taskId, contextId, userMessage }, bus) {
    const artifact = {
      artifactId: randomUUID(),
      name: 'add_numbers-result',
      parts: [{ data: { sum: 10 } }],
    };
    const task = {
      id: taskId,
      contextId,
      status: { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() },
      artifacts: [artifact],
    };
    bus.publish(AgentEvent.task({ ...Task.fromJSON(task), history: [userMessage] }));
    bus.finished();
  }

  async cancelTask() {}
}

const card = (url) =>
  AgentCard.fromJSON({
    name: 'echo',
    description: 'Makes a task of every message.',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['application/json'],
  });

const app = express();
const server = app.listen(Number(process.argv[2]), '127.0.0.1', () => {
  const address = `127.0.0.1:${server.address().port}`;
  const requestHandler = new DefaultRequestHandler(card(`http://${address}/`), new InMemoryTaskStore(), new Echo());
  app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  console.log(address);
});
