"""Lists and calls our served tools with the official Python SDK; prints what it saw as one JSON object.

    python list_and_call.py stdio COMMAND [ARGUMENT…]
    python list_and_call.py http URL
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters, stdio_client


def target(kind, words):
    if kind == "http":
        return words[0]
    return stdio_client(StdioServerParameters(command=words[0], args=words[1:]))


async def everything(client):
    """One of each kind of answer, as the SDK gives it."""
    listed, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        listed += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    sums = await asyncio.gather(*(client.call_tool("add", {"a": n, "b": n}) for n in range(50)))
    counts = [text(await client.call_tool("count", {})) for _ in range(3)]
    wrong = await client.call_tool("add", {"a": "one"})
    return {
        "server": client.server_info.name,
        "version": client.protocol_version,
        "instructions": client.instructions,
        "tools": [tool.name for tool in listed],
        "add_schema": next(tool.input_schema for tool in listed if tool.name == "add"),
        "sums": [text(answer) for answer in sums],
        "counts": counts,
        "wrong": [wrong.is_error, text(wrong)],
        "unknown": await refused(client, "cuont"),
        "broken": await refused(client, "broken"),
    }


def text(answer):
    return "".join(block.text for block in answer.content)


async def refused(client, name):
    try:
        answer = await client.call_tool(name, {})
    except MCPError as error:
        return [error.code, error.message]
    return ["answered", text(answer)]


async def main(kind, *words):
    seen = {}
    for mode in ["auto", "legacy"]:
        async with Client(target(kind, words), mode=mode) as client:
            seen[mode] = await everything(client)
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
