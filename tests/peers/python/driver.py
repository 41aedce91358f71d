"""The part of a driver that does not depend on the SDK: the command line, the job, the one line of JSON.

    client_x.py (--http URL | --sse URL) [OPTIONS]
    client_x.py [OPTIONS] --stdio CMD ARGS...      (last: everything behind it belongs to the command)

Options: --header 'NAME: VALUE', --env K=V, --era auto|legacy|modern, --call NAME JSON, --prompt NAME JSON, --read URI,
--elicit JSON, --progress, --cancel-after MS. All but era, elicit, progress and cancel-after may be repeated.
The eras: auto asks the server and falls back, legacy starts with `initialize`, modern speaks 2026-07-28 unasked.
"""

import argparse
import asyncio
import json
import sys
import traceback

import anyio
from mcp.shared.exceptions import MCPError

MODERN = "2026-07-28"
METHOD_NOT_FOUND = -32601
MAX_PAGES = 1000


def parsed(argv):
    """The job that the command line describes."""
    server = None
    if "--stdio" in argv:
        at = argv.index("--stdio")
        argv, server = argv[:at], argv[at + 1 :]
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--http")
    parser.add_argument("--sse")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--era", choices=["auto", "legacy", "modern"], default="auto")
    parser.add_argument("--call", nargs=2, action="append", default=[], metavar=("NAME", "JSON"))
    parser.add_argument("--prompt", nargs=2, action="append", default=[], metavar=("NAME", "JSON"))
    parser.add_argument("--read", action="append", default=[], metavar="URI")
    parser.add_argument("--elicit", type=json.loads, metavar="JSON")
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("--cancel-after", type=int, metavar="MS")
    job = parser.parse_args(argv)
    if sum(given is not None for given in (job.http, job.sse, server)) != 1 or server == []:
        parser.error("exactly one of --http URL, --sse URL, --stdio CMD ARGS...")
    job.server = server
    job.headers = dict(header.split(": ", 1) for header in job.header)
    job.env = dict(pair.split("=", 1) for pair in job.env)
    job.mode = MODERN if job.era == "modern" else job.era
    return job


def plain(model):
    """A model of the SDK as the JSON it came from."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def every(list_page, pick):
    """Everything of a paginated list. An empty cursor is a cursor."""
    found, cursor = [], None
    for _ in range(MAX_PAGES):
        page = await list_page(cursor=cursor)
        found += pick(page)
        cursor = page.next_cursor
        if cursor is None:
            return found
    raise RuntimeError(f"more than {MAX_PAGES} pages")


async def offered(job, offer, list_page, pick):
    """A list, if the server has it. A pinned version asks without having been told what there is."""
    if job.era != "modern":
        return await every(list_page, pick) if offer else []
    try:
        return await every(list_page, pick)
    except MCPError as error:
        if error.error.code == METHOD_NOT_FOUND:
            return []
        raise


async def answer_or_error(name, ask):
    """What the server answers; a JSON-RPC error is an answer too."""
    try:
        return {"name": name} | await ask()
    except MCPError as error:
        return {"name": name, "error": {"code": error.error.code, "message": error.error.message}}


async def called(job, client, call, name, arguments):
    """One tool call: its result, the progress seen, or that it was cancelled."""
    seen = []

    async def progress(progress, total, message):
        seen.append(progress)

    async def ask():
        result = plain(await call(name, arguments, progress if job.progress else None))
        return {
            "content": result.get("content", []),
            "structuredContent": result.get("structuredContent"),
            "isError": result.get("isError", False),
        }

    answer = {"name": name, "cancelled": True}
    with anyio.move_on_after(None if job.cancel_after is None else job.cancel_after / 1000):
        answer = await answer_or_error(name, ask)
    if "cancelled" in answer:
        # The connection must survive it; and closing it at once would overtake the notification.
        await client.list_tools()
    return answer | {"progress": seen}


async def done(job, sdk, client, call, seen):
    """Does the job with a connected client; `seen` collects the elicitations meanwhile."""
    offers, info = client.server_capabilities, client.server_info
    tools = await offered(job, offers.tools, client.list_tools, lambda page: page.tools)
    prompts = await offered(job, offers.prompts, client.list_prompts, lambda page: page.prompts)
    resources = await offered(job, offers.resources, client.list_resources, lambda page: page.resources)
    report = {
        "sdk": sdk,
        "protocolVersion": client.protocol_version,
        "serverName": info.name if info else None,
        "tools": [tool.name for tool in tools],
        "prompts": [prompt.name for prompt in prompts],
        "resources": [str(resource.uri) for resource in resources],
        "calls": [await called(job, client, call, name, json.loads(arguments)) for name, arguments in job.call],
        "gotPrompts": [],
        "read": [],
    }
    for name, arguments in job.prompt:

        async def get():
            return {"messages": plain(await client.get_prompt(name, json.loads(arguments)))["messages"]}

        report["gotPrompts"].append(await answer_or_error(name, get))
    for uri in job.read:

        async def read():
            return {"contents": plain(await client.read_resource(uri))["contents"]}

        report["read"].append(await answer_or_error(uri, read))
    return report | {"elicitations": seen}


def main(drive):
    """Runs `drive(job)`, prints its report, and says by the exit code whether there is one."""
    try:
        report = asyncio.run(drive(parsed(sys.argv[1:])))
    except BaseException as error:
        if not isinstance(error, SystemExit):
            traceback.print_exc()
        return 1
    print(json.dumps(report), flush=True)
    return 0
