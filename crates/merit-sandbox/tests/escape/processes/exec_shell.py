# tries: to turn into a shell
# contained: Ok Refused
import os
for shell in ("/bin/sh", "/bin/bash", "/usr/bin/sh", "/bin/busybox", "/usr/bin/env"):
    attempt(shell, lambda: os.execv(shell, [shell, "-c", "echo ESC''APED a shell runs"]))
