"""What the protocol's own Python client sees of `merit mcp`: its tools, and what they answer. Arguments: the command."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, stdio_client


def text(result):
    return [bool(result.is_error), "".join(block.text for block in result.content)]


async def main(command, *arguments):
    server = stdio_client(StdioServerParameters(command=command, args=list(arguments)))
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        schemas = {tool.name: tool.input_schema for tool in tools}
        print(json.dumps({
            "tools": [tool.name for tool in tools],
            "required": schemas["python"]["required"],
            "calc": text(await client.call_tool("calc", {"expression": "6*7"})),
            "wrong": text(await client.call_tool("calc", {"expression": "6*"})),
            "kept": [text(await client.call_tool("python", {"code": code})) for code in ("x = 20", "x + 1")],
        }))


asyncio.run(main(*sys.argv[1:]))
