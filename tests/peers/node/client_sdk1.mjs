// The TypeScript SDK 1.x as a client: the legacy era only, and the old SSE transport. The command line is that of
// driver.mjs; `--era modern` is refused, since this SDK does not know it.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { main } from './driver.mjs';

function transport(job) {
  const requestInit = { headers: job.headers };
  if (job.http) return new StreamableHTTPClientTransport(job.http, { requestInit });
  if (job.sse) return new SSEClientTransport(job.sse, { requestInit });
  const [command, ...args] = job.server;
  return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...job.env } });
}

await main('typescript sdk 1', async (job, answer) => {
  if (job.era === 'modern') throw new Error('the TypeScript SDK 1.x has no modern era');
  const capabilities = job.elicit === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: 'client_sdk1', version: '1.0.0' }, { capabilities });
  if (job.elicit !== undefined) client.setRequestHandler(ElicitRequestSchema, answer);
  const way = transport(job);
  // The client does not keep the negotiated version, but tells every transport that has this method.
  let negotiated;
  const told = way.setProtocolVersion?.bind(way);
  way.setProtocolVersion = (version) => {
    negotiated = version;
    told?.(version);
  };
  await client.connect(way);
  const call = (params, options) => client.callTool(params, CallToolResultSchema, options);
  return { client, call, version: () => negotiated };
});
