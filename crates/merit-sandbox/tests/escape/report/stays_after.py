# tries: to report a good end and go on running
# contained: Ok Killed Time
import json, os, struct, time
body = json.dumps({"verdict": "ok", "value": None, "cpu": 0.0, "peak": 1}).encode()
os.write(4, struct.pack("<I", len(body)) + body)
time.sleep(0.5)
while True:
    escaped("it goes on after its report")
    time.sleep(0.05)
