// The part of a driver that does not depend on the SDK: the command line, the job, the one line of JSON.
//
//   client_x.mjs (--http URL | --sse URL) [OPTIONS]
//   client_x.mjs [OPTIONS] --stdio CMD ARGS...      (last: everything behind it belongs to the command)
//
// Options: --header 'NAME: VALUE', --env K=V, --era auto|legacy|modern, --call NAME JSON, --prompt NAME JSON, --read URI,
// --elicit JSON, --progress, --cancel-after MS. All but era, elicit, progress and cancel-after may be repeated.

const MAX_PAGES = 1000;

/** The job that the command line describes. */
function parsed(argv) {
  const job = { headers: {}, env: {}, era: 'auto', calls: [], prompts: [], reads: [], progress: false };
  const words = [...argv];
  const next = (option) => {
    if (words.length === 0) throw new Error(`${option} lacks a value`);
    return words.shift();
  };
  while (words.length > 0) {
    const option = words.shift();
    if (option === '--http') job.http = new URL(next(option));
    else if (option === '--sse') job.sse = new URL(next(option));
    else if (option === '--header') Object.assign(job.headers, pair(next(option), ': '));
    else if (option === '--env') Object.assign(job.env, pair(next(option), '='));
    else if (option === '--era') job.era = next(option);
    else if (option === '--call') job.calls.push([next(option), JSON.parse(next(option))]);
    else if (option === '--prompt') job.prompts.push([next(option), JSON.parse(next(option))]);
    else if (option === '--read') job.reads.push(next(option));
    else if (option === '--elicit') job.elicit = JSON.parse(next(option));
    else if (option === '--progress') job.progress = true;
    else if (option === '--cancel-after') job.cancelAfter = Number(next(option));
    else if (option === '--stdio') job.server = [next(option), ...words.splice(0)];
    else throw new Error(`unknown option ${option}`);
  }
  if ([job.http, job.sse, job.server].filter((given) => given !== undefined).length !== 1) {
    throw new Error('exactly one of --http URL, --sse URL, --stdio CMD ARGS...');
  }
  return job;
}

function pair(text, separator) {
  const at = text.indexOf(separator);
  if (at < 0) throw new Error(`no "${separator}" in ${text}`);
  return { [text.slice(0, at)]: text.slice(at + separator.length) };
}

/** Everything of a paginated list. An empty cursor is a cursor. */
async function every(listPage, pick) {
  const found = [];
  let cursor;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await listPage(cursor === undefined ? undefined : { cursor });
    found.push(...pick(answer));
    cursor = answer.nextCursor;
    if (cursor === undefined) return found;
  }
  throw new Error(`more than ${MAX_PAGES} pages`);
}

/** What the server answers; a JSON-RPC error, which has a number for a code, is an answer too. */
async function answerOrError(name, ask) {
  try {
    return { name, ...(await ask()) };
  } catch (error) {
    if (typeof error.code !== 'number') throw error;
    return { name, error: { code: error.code, message: error.message } };
  }
}

/** One tool call: its result, the progress seen, or that it was cancelled. */
async function called(job, { client, call }, name, args) {
  const progress = [];
  const options = job.progress ? { onprogress: (seen) => progress.push(seen.progress) } : {};
  if (job.cancelAfter !== undefined) {
    // A person who stops it: a time-out of the client would be another reason.
    const stop = new AbortController();
    setTimeout(() => stop.abort('stopped by the user'), job.cancelAfter);
    options.signal = stop.signal;
  }
  const ask = async () => {
    const result = await call({ name, arguments: args }, options);
    return {
      content: result.content,
      structuredContent: result.structuredContent ?? null,
      isError: result.isError ?? false,
    };
  };
  const answer = await answerOrError(name, async () => {
    try {
      return await ask();
    } catch (error) {
      // Before the codes are looked at: SDK 1 gives an aborted call the code of a timeout.
      if (!options.signal?.aborted) throw error;
      // The connection must survive it; and closing it at once would overtake the notification.
      await client.listTools();
      return { cancelled: true };
    }
  });
  return { ...answer, progress };
}

async function done(job, connected) {
  const { sdk, client, version, seen } = connected;
  const offers = client.getServerCapabilities() ?? {};
  const list = async (offer, listPage, pick) => (offer ? every(listPage, pick) : []);
  const tools = await list(offers.tools, (at) => client.listTools(at), (page) => page.tools);
  const prompts = await list(offers.prompts, (at) => client.listPrompts(at), (page) => page.prompts);
  const resources = await list(offers.resources, (at) => client.listResources(at), (page) => page.resources);
  const report = {
    sdk,
    protocolVersion: version(),
    serverName: client.getServerVersion()?.name ?? null,
    tools: tools.map((tool) => tool.name),
    prompts: prompts.map((prompt) => prompt.name),
    resources: resources.map((resource) => resource.uri),
    calls: [],
    gotPrompts: [],
    read: [],
  };
  for (const [name, args] of job.calls) report.calls.push(await called(job, connected, name, args));
  for (const [name, args] of job.prompts) {
    const get = async () => ({ messages: (await client.getPrompt({ name, arguments: args })).messages });
    report.gotPrompts.push(await answerOrError(name, get));
  }
  for (const uri of job.reads) {
    const read = async () => ({ contents: (await client.readResource({ uri })).contents });
    report.read.push(await answerOrError(uri, read));
  }
  return { ...report, elicitations: seen };
}

/**
 * Does the job and prints its report; the exit code says whether there is one. `connect(job, answer)` gives the
 * connected client, how to call a tool with it, and how to learn the negotiated version; `answer` is for elicitations.
 */
export async function main(sdk, connect) {
  try {
    const job = parsed(process.argv.slice(2));
    const seen = [];
    const answer = (request) => {
      seen.push(request.params.message);
      return { action: 'accept', content: job.elicit };
    };
    const connected = await connect(job, answer);
    const report = await done(job, { sdk, seen, ...connected });
    await connected.client.close();
    console.log(JSON.stringify(report));
  } catch (error) {
    console.error(error);
    // A connection that is still open would keep the process alive.
    process.exit(1);
  }
}
