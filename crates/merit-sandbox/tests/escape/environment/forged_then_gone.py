# tries: reports of its own making, then to be gone before the harness can speak
# contained: Killed Exception
# never-value: forged-value
import json, os, struct
body = json.dumps({"verdict": "ok", "value": "forged" + "-value", "stdout": "", "stderr": "", "kind": "ok", "ok": True}).encode()
for fd in range(3, 1024):
    for frame in (body + b"\n", struct.pack("<I", len(body)) + body, struct.pack(">I", len(body)) + body, struct.pack("<Q", len(body)) + body):
        try:
            os.write(fd, frame)
        except OSError:
            pass
os._exit(0)
