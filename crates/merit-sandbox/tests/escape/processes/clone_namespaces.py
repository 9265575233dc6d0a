# tries: clone into new user, process, mount and network namespaces
# contained: Ok Processes Refused
import os
NEW = {"user": 0x10000000, "pid": 0x20000000, "net": 0x40000000, "mount": 0x20000, "ipc": 0x8000000, "uts": 0x4000000, "cgroup": 0x2000000}
for name, flag in NEW.items():
    for extra in (0, 0x10000000):
        result = syscall("clone", flag | extra | 17, 0, 0, 0, 0)
        if result >= 0:
            escaped(f"a new {name} namespace was allowed")
            if result == 0:
                os._exit(0)
        print(name, "->", result)
