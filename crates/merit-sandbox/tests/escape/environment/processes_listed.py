# tries: to see other processes
# contained: Ok
import os
try:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
except OSError as error:
    pids = []
    print(error)
print(pids, os.getpid(), os.getppid())
for pid in pids:
    try:
        print(pid, open(f"/proc/{pid}/cmdline").read(), open(f"/proc/{pid}/comm").read())
    except OSError:
        pass
for pid in (int("{{VICTIM}}"), int("{{TEST_PID}}")):
    if pid in pids and pid > 100:
        escaped(f"sees process {pid}")
