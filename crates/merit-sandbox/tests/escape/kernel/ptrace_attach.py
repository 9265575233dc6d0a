# tries: to trace other processes
# contained: Refused
import os
for pid in (os.getppid(), 1, int("{{VICTIM}}")):
    for request in (16, 0x4206):
        refused(f"ptrace {request} {pid}", "ptrace", request, pid, 0, 0)
