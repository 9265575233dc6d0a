# tries: two reports, the second for whoever reads next
# contained: Ok Killed
import json, os, struct
for value in ("first", "second"):
    body = json.dumps({"verdict": "ok", "value": value, "cpu": 0.0, "peak": 1}).encode()
    os.write(4, struct.pack("<I", len(body)) + body)
os._exit(0)
