# tries: to join the namespaces of process 1 and its parent
# contained: Ok Refused
import os
for pid in ("1", "self", str(os.getppid())):
    for name in ("mnt", "pid", "net", "user", "ipc", "uts", "cgroup"):
        def join():
            fd = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
            refused(f"setns {name}", "setns", fd, 0)
        attempt(f"{pid} {name}", join)
refused("setns on nothing", "setns", 0, 0)
