# tries: a report that is no JSON
# contained: Killed
import os, struct
body = b"\xff\xfe\x00not a report"
os.write(4, struct.pack("<I", len(body)) + body)
os._exit(0)
