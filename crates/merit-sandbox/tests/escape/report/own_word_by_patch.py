# tries: the same by patching what the harness sends with
# contained: Ok Killed Exception
import json
real = json.dumps
json.dumps = lambda *_, **__: real({"verdict": "ok", "value": "my own word", "cpu": 0.0, "peak": 1})
raise ValueError("never told")
