# tries: to read every small file it can find and look for anything of the host's
# contained: Ok Time
import os
seen = 0
for top, folders, names in os.walk("/"):
    if top.startswith(("/proc", "/sys", "/usr/lib", "/lib", "/usr/share", "/usr/local/lib")):
        folders[:] = []
        continue
    for name in names:
        path = os.path.join(top, name)
        seen += 1
        try:
            if os.path.isfile(path) and os.path.getsize(path) < 4096:
                text = open(path, "rb").read()
                if b"canary-" in text:
                    print(path, text)
        except OSError:
            pass
print("looked at", seen)
