# tries: a well-formed report of its own making, then to be gone; a program's word about itself is its own, and about nothing else
# contained: Ok Killed
import json, os, struct
body = json.dumps({"verdict": "ok", "value": "my own word", "cpu": 0.0, "peak": 1}).encode()
for fd in (4, 3, 5, 6):
    try:
        os.write(fd, struct.pack("<I", len(body)) + body)
    except OSError:
        pass
os._exit(0)
