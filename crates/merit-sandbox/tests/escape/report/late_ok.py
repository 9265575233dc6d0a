# tries: to swallow its deadline, go on, and claim a good end afterwards
# contained: Time
# limits: seconds=0.5
import json, os, signal, struct, time
signal.signal(signal.SIGALRM, signal.SIG_IGN)
start = time.monotonic()
body = json.dumps({"verdict": "ok", "value": "late", "cpu": 0.0, "peak": 1}).encode()
while time.monotonic() < start + 0.52:
    pass
while True:
    os.write(4, struct.pack("<I", len(body)) + body)
    time.sleep(0.001)
