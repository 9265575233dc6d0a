# tries: to lower the limits of its parent and of a host process
# contained: Ok
import os, resource
for pid in (1, os.getppid(), int("{{VICTIM}}"), int("{{TEST_PID}}")):
    if pid in (0, os.getpid()):
        continue
    attempt(pid, lambda: (resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)), escaped(f"limits of {pid} changed")))
