# tries: to list and read homes
# contained: Ok
import os
for path in ("{{HOME}}", "/root", "/home", "/work", "/mnt", "/srv", "/boot", "/media"):
    names = attempt(path, lambda: os.listdir(path))
    if names:
        escaped(f"{path} holds {names[:5]}")
