# tries: to die by a signal of its own choosing (process 1 of a namespace is immune to its own)
# contained: Killed Ok
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
raise SystemExit
