# tries: an exception report with texts far past every limit
# contained: Killed Exception Output
import json, os, struct
text = "t" * (3 << 20)
body = json.dumps({"verdict": "exception", "kind": text, "message": text, "traceback": text, "cpu": 0.0, "peak": 1}).encode()
data = struct.pack("<I", len(body)) + body
while data:
    data = data[os.write(4, data):]
os._exit(0)
