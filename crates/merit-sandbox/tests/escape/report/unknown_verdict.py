# tries: a verdict that does not exist
# contained: Killed
import os, struct
body = b'{"verdict":"victory","value":"x","cpu":0.0,"peak":1}'
os.write(4, struct.pack("<I", len(body)) + body)
os._exit(0)
