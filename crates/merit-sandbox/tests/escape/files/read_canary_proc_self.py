# tries: the same file through the process folder's magic links
# contained: Ok
# bare: canary-file
import os
for base in ("/proc/self/root", "/proc/thread-self/root", "/proc/self/cwd/../../../../../..", f"/proc/{os.getpid()}/root", f"/proc/self/task/{os.getpid()}/root"):
    attempt(base, lambda: print(open(base + "{{CANARY_FILE}}").read()))
