"""A server on the official Python SDK, over HTTP on a free port that it prints: it counts per client session.

    python counting_server.py json|events
"""

import asyncio
import socket
import sys

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer

server = MCPServer("counting")
counted = {}


@server.tool()
def count(ctx: Context) -> str:
    """Counts the calls of this session."""
    session = ctx.headers["mcp-session-id"]
    counted[session] = counted.get(session, 0) + 1
    return str(counted[session])


@server.tool()
def header(name: str, ctx: Context) -> str:
    """The value of a header of the request."""
    return ctx.headers.get(name, "absent")


@server.tool()
async def hang() -> str:
    """Never answers."""
    print("hanging", flush=True)
    await asyncio.sleep(3600)
    return "awake"


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("cannot be done")


@server.tool()
def picture() -> Image:
    """An image of five bytes."""
    return Image(data=b"hello", format="png")


if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    app = server.streamable_http_app(json_response=sys.argv[1] == "json")
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
