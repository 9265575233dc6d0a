# tries: to learn from the mount table where the host keeps things, and to go there
# contained: Ok
import os
try:
    lines = open("/proc/self/mountinfo").read().splitlines()
except OSError as error:
    lines = []
    print(error)
for line in lines:
    point = line.split()[4].encode().decode("unicode_escape")
    attempt(point, lambda: os.statvfs(point).f_flag)
    attempt(point + " canary", lambda: print(open(point + "{{CANARY_FILE}}").read()))
