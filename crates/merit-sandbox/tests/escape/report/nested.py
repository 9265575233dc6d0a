# tries: a report nested a million levels deep
# contained: Killed Ok
import os, struct
body = b'{"verdict":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"
os.write(4, struct.pack("<I", len(body)))
while body:
    body = body[os.write(4, body):]
os._exit(0)
