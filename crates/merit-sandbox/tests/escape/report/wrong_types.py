# tries: a report whose fields are of other kinds
# contained: Killed
import os, struct
body = b'{"verdict":{"ok":[]},"value":7,"cpu":"long","peak":-1e400}'
os.write(4, struct.pack("<I", len(body)) + body)
os._exit(0)
