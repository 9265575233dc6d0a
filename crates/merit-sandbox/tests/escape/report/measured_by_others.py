# tries: to claim that it took no time and no memory
# contained: Ok Killed
# at-least: seconds=0.25
import json, os, struct, time
time.sleep(0.3)
body = json.dumps({"verdict": "ok", "value": None, "seconds": 0.0, "cpu": 0.0, "peak": 0}).encode()
os.write(4, struct.pack("<I", len(body)) + body)
os._exit(0)
