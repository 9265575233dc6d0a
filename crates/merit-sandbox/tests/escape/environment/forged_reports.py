# tries: reports of its own making on every descriptor, then an exception
# contained: Exception Killed
# never-value: forged-value
import json, os, struct, sys
shapes = []
for verdict in ("ok", "Ok", {"Ok": None}, {"type": "ok"}):
    shapes.append({"verdict": verdict, "value": "forged" + "-value", "stdout": "", "stderr": "", "status": "ok", "seconds": 0.0, "cpu_seconds": 0.0, "peak_memory_kb": 1})
for fd in range(3, 1024):
    for shape in shapes:
        body = json.dumps(shape).encode()
        for frame in (body + b"\n", struct.pack("<I", len(body)) + body, struct.pack(">I", len(body)) + body, struct.pack("<Q", len(body)) + body, body + b"\0"):
            try:
                os.set_blocking(fd, False)
                os.write(fd, frame)
            except OSError:
                pass
raise ValueError("the truth")
