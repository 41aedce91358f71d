// The TypeScript client 2.x, both eras. The command line is that of driver.mjs. The SDK's own default is legacy; the
// driver's is auto, as with the other SDKs.

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';

import { main } from './driver.mjs';

const MODES = { auto: 'auto', legacy: 'legacy', modern: { pin: '2026-07-28' } };

function transport(job) {
  const requestInit = { headers: job.headers };
  if (job.http) return new StreamableHTTPClientTransport(job.http, { requestInit });
  if (job.sse) return new SSEClientTransport(job.sse, { requestInit });
  const [command, ...args] = job.server;
  return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...job.env } });
}

await main('typescript client 2', async (job, answer) => {
  const capabilities = job.elicit === undefined ? {} : { elicitation: {} };
  const versionNegotiation = { mode: MODES[job.era] };
  const client = new Client({ name: 'client_sdk2', version: '1.0.0' }, { capabilities, versionNegotiation });
  if (job.elicit !== undefined) client.setRequestHandler('elicitation/create', answer);
  await client.connect(transport(job));
  const call = (params, options) => client.callTool(params, options);
  return { client, call, version: () => client.getNegotiatedProtocolVersion() };
});
