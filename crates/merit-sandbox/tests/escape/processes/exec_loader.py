# tries: to exec the dynamic loader, which would start any readable program
# contained: Ok Refused
import glob, os, sys
for loader in glob.glob("/lib*/ld-linux*") + glob.glob("/lib/*/ld-linux*") + glob.glob("/usr/lib*/ld-linux*"):
    program = sys.executable or "/usr/bin/python3"
    attempt(loader, lambda: os.execv(loader, [loader, program, "-c", "print('ESC' + 'APED by the loader')"]))
