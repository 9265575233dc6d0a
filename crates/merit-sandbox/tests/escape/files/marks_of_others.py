# tries: to find what other calls wrote, anywhere
# contained: Ok
import os
for top in ("/", "/dev", "/run", "/var", "/var/tmp", "/etc", "/opt", "/usr", "/bin", "/home", "/root", "/mnt", "/tmp", os.getcwd(), os.path.expanduser("~")):
    try:
        for name in os.listdir(top):
            if name in ("merit-mark", "filler", "hard0", "bait0", "sparse") or name.startswith("fill"):
                escaped(f"another call's {name} in {top}")
    except OSError:
        pass
