// The agent of agent_a2a13.py on the official JavaScript SDK. The arguments are the port, the version of the SDK (13, 03 or
// 02), and for 13 `strict` or `compat` (0.3 too).

import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import express from 'express';

const [port, version, mode] = process.argv.slice(2);
const isModern = version === '13';
const PAUSE = 50;
const { DefaultRequestHandler, InMemoryTaskStore, ...server } = await import(`a2a-js-${version}/server`);
const { Task, Message, AgentCard, TaskStatusUpdateEvent, TaskArtifactUpdateEvent } = isModern ? await import('a2a-js-13') : {};

const state = (word) => (isModern ? `TASK_STATE_${word.replace('-', '_').toUpperCase()}` : word);
const text = (words) => (isModern ? { text: words } : { kind: 'text', text: words });
const said = (words) => ({
  messageId: randomUUID(),
  role: isModern ? 'ROLE_AGENT' : 'agent',
  parts: [text(words)],
  ...(isModern ? {} : { kind: 'message' }),
});

// The kinds of events, in the form of each version.
const events = (taskId, contextId, userMessage) => {
  const ids = { taskId, contextId };
  const status = (word, words) => ({
    state: state(word),
    timestamp: new Date().toISOString(),
    ...(words ? { message: said(words) } : {}),
  });
  const published = {
    message: (words) => (isModern ? server.AgentEvent.message(Message.fromJSON({ ...said(words), contextId })) : { ...said(words), contextId }),
    task: () => {
      const task = { id: taskId, contextId, status: status('submitted'), artifacts: [] };
      return isModern
        ? server.AgentEvent.task({ ...Task.fromJSON(task), history: [userMessage] })
        : { kind: 'task', ...task, history: [userMessage] };
    },
    status: (word, words, final = false) => {
      const event = { ...ids, status: status(word, words) };
      return isModern
        ? server.AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON(event))
        : { kind: 'status-update', ...event, final };
    },
    chunk: (words, append, lastChunk) => {
      const event = { ...ids, artifact: { artifactId: 'out', parts: [text(words)] }, append, lastChunk };
      return isModern
        ? server.AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON(event))
        : { kind: 'artifact-update', ...event };
    },
  };
  return published;
};

class Agent {
  canceled = new Map();

  async execute({ taskId, contextId, userMessage, task }, bus) {
    const words = userMessage.parts.map((part) => part.text ?? part.content?.value ?? '').join(' ');
    const say = events(taskId, contextId, userMessage);
    if (words.startsWith('say')) {
      bus.publish(say.message(`said: ${words}`));
      return bus.finished();
    }
    if (task) {
      bus.publish(say.status('working'));
      bus.publish(say.chunk(`chosen: ${words}`, false, true));
      bus.publish(say.status('completed', undefined, true));
      return bus.finished();
    }
    bus.publish(say.task());
    bus.publish(say.status('working', 'working on it'));
    if (words.startsWith('ask')) {
      bus.publish(say.status('input-required', 'which one?', true));
      return bus.finished();
    }
    if (words.startsWith('hang')) {
      await new Promise((stop) => this.canceled.set(taskId, stop));
      bus.publish(say.status('canceled', undefined, true));
      return bus.finished();
    }
    if (words.startsWith('slow')) {
      for (let number = 0; number < 5; number += 1) {
        await setTimeout(PAUSE);
        bus.publish(say.chunk(`chunk ${number};`, number > 0, number === 4));
      }
    } else {
      bus.publish(say.chunk(`echo: ${words}`, false, true));
    }
    bus.publish(say.status('completed', undefined, true));
    bus.finished();
  }

  async cancelTask(taskId) {
    this.canceled.get(taskId)?.();
  }
}

const card = (url) => {
  const described = {
    name: 'tried',
    description: 'Does what clients are tried with.',
    version: '1',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'echo', description: 'Says it again.', tags: ['echo'] }],
  };
  if (!isModern) {
    return { ...described, url, ...(version === '03' ? { protocolVersion: '0.3.0' } : {}) };
  }
  const versions = mode === 'compat' ? ['1.0', '0.3'] : ['1.0'];
  const supportedInterfaces = versions.map((one) => ({ url, protocolBinding: 'JSONRPC', protocolVersion: one }));
  return AgentCard.fromJSON({ ...described, supportedInterfaces });
};

const app = express();
const listening = app.listen(Number(port), '127.0.0.1', async () => {
  const address = `127.0.0.1:${listening.address().port}`;
  const described = card(`http://${address}/`);
  const requestHandler = new DefaultRequestHandler(described, new InMemoryTaskStore(), new Agent());
  if (isModern) {
    const { UserBuilder, agentCardHandler, jsonRpcHandler } = await import('a2a-js-13/server/express');
    app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
    const legacyCompat = { enabled: mode === 'compat' };
    app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
  } else {
    const { A2AExpressApp } = version === '02' ? server : await import('a2a-js-03/server/express');
    new A2AExpressApp(requestHandler).setupRoutes(app, '');
  }
  console.log(address);
});
