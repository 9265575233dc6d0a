# tries: to kill, stop and hang up its parent
# contained: Ok
import os, signal
parent = os.getppid()
for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGHUP, signal.SIGKILL):
    attempt(f"{parent} {number}", lambda: os.kill(parent, number) if parent > 0 else "no parent seen")
