# tries: to kill process 1
# contained: Ok Killed Exception
import os, signal
for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
    attempt(number, lambda: os.kill(1, number))
