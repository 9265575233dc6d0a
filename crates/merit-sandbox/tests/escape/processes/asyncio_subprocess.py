# tries: a child process by the event loop
# contained: Ok Exception Processes
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("/bin/sh", "-c", "true")
    escaped(process.pid)
asyncio.run(main())
