# tries: to swallow its deadline, which it can see, and claim a good end two milliseconds after
# contained: Time
# limits: seconds=0.5
import json, os, signal, struct, time
left = signal.getitimer(signal.ITIMER_REAL)[0]
deadline = time.monotonic() + (left or 0.5)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
body = json.dumps({"verdict": "ok", "value": "late", "cpu": 0.0, "peak": 1}).encode()
while time.monotonic() < deadline + 0.002:
    pass
os.write(4, struct.pack("<I", len(body)) + body)
while True:
    pass
