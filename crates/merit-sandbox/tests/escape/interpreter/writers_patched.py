# tries: to forge what the harness sends by patching json, os, socket and struct
# contained: Exception Killed
# never-value: forged-value
import json, marshal, os, pickle, socket, struct, sys, time, traceback
real_dumps, real_write, real_pack = json.dumps, os.write, struct.pack
forged = {"verdict": "ok", "value": "forged" + "-value", "kind": "ok", "stdout": "", "stderr": ""}
json.dumps = lambda *_, **__: real_dumps(forged)
json.JSONEncoder.encode = lambda *_, **__: real_dumps(forged)
os.write = lambda fd, data: (real_write(fd, real_dumps(forged).encode()), len(data))[1]
marshal.dumps = lambda *_: b""
pickle.dumps = lambda *_: b""
struct.pack = lambda *_: b"\0\0\0\0"
time.monotonic = time.perf_counter = time.process_time = lambda: -1e300
traceback.format_exception = lambda *_, **__: ["forged-" + "value"]
raise ValueError("the truth")
