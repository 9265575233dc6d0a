# tries: to write memory of other processes
# contained: Ok Refused
import ctypes, os, struct
buffer = ctypes.create_string_buffer(64)
local = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(buffer), 64))
for pid in (os.getppid() or 1, 1, int("{{VICTIM}}")):
    if pid != os.getpid():
        refused(f"write {pid}", "process_vm_writev", pid, local, 1, local, 1, 0)
