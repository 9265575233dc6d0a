# tries: a report with impossible measurements
# contained: Killed Ok
import os, struct
body = b'{"verdict":"ok","value":null,"cpu":-1e308,"peak":18446744073709551615}'
os.write(4, struct.pack("<I", len(body)) + body)
os._exit(0)
