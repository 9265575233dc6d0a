# tries: to overwrite the running interpreter or its libraries through the process folder
# contained: Ok
import os, re
def overwrite(path):
    fd = os.open(path, os.O_RDWR)
    escaped("opened for writing " + path)
    os.close(fd)
attempt("exe", lambda: overwrite("/proc/self/exe"))
try:
    maps = open("/proc/self/maps").read()
except OSError as error:
    maps = ""
    print(error)
for path in sorted(set(re.findall(r"(/\S+)$", maps, re.M))):
    attempt(path, lambda: overwrite(path))
