// The part of an A2A client that does not depend on the SDK: the job, in an order, and one line of JSON for each
// operation. The command line, the environment and the lines are those of python/a2a_driver.py.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE = 60_000;
const TOOL = { tool: 'add_numbers', arguments: { a: 3, b: 7 } };
const FILE = { name: 'three.bin', mediaType: 'application/x-three', bytes: 'AQID' };
const CONFIG = 'hook-1';
const MAX_EVENTS = 1000;
const HOOK = process.env.A2A_HOOK ?? 'https://example.com/hook';

export const KEY = process.env.A2A_KEY;

const text = (value) => ({ text: value });
const word = (value) => [text(value)];

/** Every operation. `peer` is the SDK's side. */
function job(peer) {
  let done;
  // A task that is completed, made once.
  const completed = async () => (done ??= await peer.send(word('hello')));
  // A task that works until it is canceled.
  const running = () => peer.send(word('slow'), { blocking: false });
  return {
    card: () => peer.card(),
    send: async () => ({ task: await completed() }),
    reply: async () => ({ message: await peer.send(word('reply')) }),
    data: async () => ({ task: await peer.send([{ data: TOOL }]) }),
    file: async () => ({ task: await peer.send([text('take this'), { file: FILE }]) }),
    artifacts: async () => ({ task: await peer.send(word('artifacts')) }),
    async states() {
      const found = {};
      for (const each of ['fail', 'reject', 'auth']) found[each] = await peer.send(word(each));
      return found;
    },
    stream: async () => heard(await all(peer.stream(word('stream')))),
    stream_reply: async () => heard(await all(peer.stream(word('reply')))),
    async get() {
      const { id } = await completed();
      const whole = await peer.get(id);
      const bare = await peer.get(id, 0);
      return { task: whole, same: whole.id === id, bareHistory: bare.history };
    },
    async list() {
      const { id, contextId } = await completed();
      const mine = await peer.list({ context: contextId });
      const page = await peer.list({ size: 1 });
      const after = await peer.list({ size: 1, token: page.next });
      return {
        count: mine.ids.length,
        found: mine.ids.includes(id),
        pageCount: page.ids.length,
        pageSize: page.size,
        more: page.next !== '',
        moves: page.ids[0] !== after.ids[0],
        total: page.total,
      };
    },
    async cancel() {
      const begun = await running();
      const task = await peer.cancel(begun.id);
      return { before: begun.state, task, after: (await peer.get(begun.id)).state };
    },
    not_cancelable: async () => refused(peer, peer.cancel((await completed()).id)),
    async resubscribe() {
      const { id } = await running();
      const events = [];
      for await (const event of bounded(peer.resubscribe(id))) {
        // Only now: somebody listens, so that the end must reach them.
        if (events.push(event) === 1) await peer.cancel(id);
      }
      return heard(events);
    },
    push_set: async () => ({ config: await peer.pushSet((await completed()).id, CONFIG, HOOK, 'secret-token') }),
    push_get: async () => ({ config: await peer.pushGet((await completed()).id, CONFIG) }),
    push_list: async () => ({ configs: await peer.pushList((await completed()).id) }),
    async push_delete() {
      const { id } = await completed();
      await peer.pushDelete(id, CONFIG);
      return { left: (await peer.pushList(id)).length };
    },
    async multi_turn() {
      const asked = await peer.send(word('ask'));
      const answered = await peer.send(word('three'), { task: asked.id, context: asked.contextId });
      const sameContext = asked.contextId === answered.contextId;
      return { asked, answered, sameTask: asked.id === answered.id, sameContext };
    },
    async context() {
      const first = await completed();
      const again = await peer.send(word('hello'), { context: first.contextId });
      return { sameContext: again.contextId === first.contextId, sameTask: again.id === first.id };
    },
    not_found: () => refused(peer, peer.get(randomUUID())),
    extended_card: () => peer.extendedCard(),
    auth_retry: async () => ({ task: await peer.sendAfterRefusal(word('hello')) }),
    no_key: () => refused(peer, peer.sendWithoutKey(word('hello'))),
    verify_card: async () => peer.verifyCard(JSON.parse(await readFile(process.env.A2A_JWK, 'utf8'))),
  };
}

export const ORDER = Object.keys(job());

/** What an operation that must not work says. */
async function refused(peer, call) {
  try {
    return { refused: null, answer: await call };
  } catch (error) {
    return { refused: peer.error(error) };
  }
}

async function* bounded(events) {
  let count = 0;
  for await (const event of events) {
    yield event;
    count += 1;
    if (count === MAX_EVENTS) throw new Error('the stream does not end');
  }
}

async function all(events) {
  const found = [];
  for await (const event of bounded(events)) found.push(event);
  return found;
}

/** A stream in short: what came, in order, and the text of it all. */
function heard(events) {
  const texts = events.flatMap((event) => event.parts ?? []).map((part) => part.text ?? '');
  return { events: events.map(({ event }) => event), text: texts.join(''), final: events.at(-1).final ?? null };
}

const state = (name) => name.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');

/** A part of 1.0. */
export function part10(part) {
  if ('text' in part) return { text: part.text };
  if ('data' in part) return { data: part.data };
  const file = { name: part.filename ?? null, mediaType: part.mediaType ?? null };
  return { file: 'raw' in part ? { ...file, bytes: part.raw } : { ...file, url: part.url } };
}

/** A part of 0.2 and 0.3. */
export function part03(part) {
  if (part.kind !== 'file') return { [part.kind]: part[part.kind] };
  const file = { name: part.file.name ?? null, mediaType: part.file.mimeType ?? null };
  return { file: 'bytes' in part.file ? { ...file, bytes: part.file.bytes } : { ...file, url: part.file.uri } };
}

const said = (status, part) => (status.message?.parts ?? []).map((each) => part(each).text ?? '').join('');

export function taskOf(task, part) {
  return {
    id: task.id,
    contextId: task.contextId,
    state: state(task.status.state),
    said: said(task.status, part),
    artifacts: (task.artifacts ?? []).map(({ name, parts }) => ({ name: name || null, parts: parts.map(part) })),
    history: task.history?.length ?? 0,
  };
}

export function messageOf(message, part) {
  return { parts: message.parts.map(part), role: message.role.replace('ROLE_', '').toLowerCase() };
}

const statusEvent = (update, part) => ({
  event: `status:${state(update.status.state)}`,
  final: update.final ?? null,
  said: said(update.status, part),
});

const artifactEvent = (update, part) => ({
  event: update.append ? 'artifact+' : 'artifact',
  parts: update.artifact.parts.map(part),
});

/** A StreamResponse of 1.0. */
export function event10(event) {
  if (event.task) return { event: `task:${state(event.task.status.state)}` };
  if (event.message) return { event: 'message', ...messageOf(event.message, part10) };
  if (event.statusUpdate) return statusEvent(event.statusUpdate, part10);
  return artifactEvent(event.artifactUpdate, part10);
}

/** An event of 0.2 and 0.3. */
export function event03(event) {
  if (event.kind === 'task') return { event: `task:${state(event.status.state)}` };
  if (event.kind === 'message') return { event: 'message', ...messageOf(event, part03) };
  return event.kind === 'status-update' ? statusEvent(event, part03) : artifactEvent(event, part03);
}

export const result03 = (result) => (result.kind === 'task' ? taskOf(result, part03) : messageOf(result, part03));

export const card03 = (card) => ({
  name: card.name,
  streaming: card.capabilities.streaming ?? false,
  push: card.capabilities.pushNotifications ?? false,
  skills: card.skills.map(({ id }) => id),
});

export function config03(config) {
  const { id, url, token } = config.pushNotificationConfig;
  return { id, taskId: config.taskId, url, token };
}

function wirePart03(part) {
  if ('text' in part) return { kind: 'text', text: part.text };
  if ('data' in part) return { kind: 'data', data: part.data };
  const { name, mediaType, bytes } = part.file;
  return { kind: 'file', file: { name, mimeType: mediaType, bytes } };
}

/** The parameters of `message/send` in 0.2 and 0.3. */
export function sending03(parts, { task, context, blocking = true } = {}) {
  const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts: parts.map(wirePart03) };
  if (task) message.taskId = task;
  if (context) message.contextId = context;
  return { message, configuration: { blocking, acceptedOutputModes: [] } };
}

/** A `fetch` with the key. */
export function keyed(url, init = {}) {
  const headers = new Headers(init.headers);
  if (KEY) headers.set('Authorization', `Bearer ${KEY}`);
  return fetch(url, { ...init, headers });
}

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
// What an SDK says of itself is not for the reader of our lines.
for (const word of ['log', 'info', 'debug']) {
  console[word] = console.error;
}

function inTime(call) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${PATIENCE} ms`)), PATIENCE);
  });
  return Promise.race([call, late]).finally(() => clearTimeout(timer));
}

/** `connect(base, binding)` gives the SDK's side; what is in its `lacks` is left out. */
export async function main(sdk, connect) {
  const [base, binding, wanted] = process.argv.slice(2);
  const peer = await connect(base, binding);
  const lacks = new Set(peer.lacks);
  if (!KEY) lacks.add('auth_retry').add('no_key');
  if (!process.env.A2A_JWK) lacks.add('verify_card');
  const able = ORDER.filter((name) => !lacks.has(name));
  const operations = job(peer);
  say({ op: 'client', ok: true, sdk, binding, ops: able });
  for (const op of wanted?.split(',') ?? able) {
    try {
      say({ op, ok: true, ...(await inTime(operations[op]())) });
    } catch (error) {
      say({ op, ok: false, error: peer.error(error) });
    }
  }
  // A stream that was given up may still hold its socket.
  process.exit(0);
}
