# tries: to turn into a fresh interpreter without the harness
# contained: Ok Refused
import os, sys
code = "print('ESC' + 'APED a fresh interpreter runs')"
for path in (sys.executable, "/proc/self/exe", "/usr/bin/python3", "/usr/local/bin/python3"):
    attempt(path, lambda: os.execv(path or "python3", ["python3", "-c", code]))
attempt("PATH", lambda: os.execvp("python3", ["python3", "-c", code]))
