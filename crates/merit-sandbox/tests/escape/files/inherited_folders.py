# tries: to climb from any folder that was left open
# contained: Ok
import os, stat
for fd in range(0, 1024):
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            continue
        print("folder open:", fd)
        for ups in range(0, 20):
            inner = os.open("../" * ups + "{{CANARY_FILE}}"[1:], os.O_RDONLY, dir_fd=fd)
            print(os.read(inner, 200))
    except OSError:
        pass
