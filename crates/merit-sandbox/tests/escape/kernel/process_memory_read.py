# tries: to copy memory out of other processes
# contained: Ok Refused
import ctypes, os, struct
buffer = ctypes.create_string_buffer(64)
local = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(buffer), 64))
remote = ctypes.create_string_buffer(struct.pack("QQ", id(None), 64))
for pid in (os.getppid() or 1, 1, int("{{VICTIM}}"), int("{{TEST_PID}}")):
    if pid != os.getpid():
        refused(f"read {pid}", "process_vm_readv", pid, local, 1, remote, 1, 0)
