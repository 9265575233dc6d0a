# tries: to take back what was given up
# contained: Ok
import ctypes, struct
print("no_new_privs off ->", syscall("prctl", 38, 0, 0, 0, 0))
if syscall("prctl", 39, 0, 0, 0, 0) == 0:
    escaped("no_new_privs is not set")
for capability in range(0, 41):
    if syscall("prctl", 23, capability) == 1:
        escaped(f"capability {capability} is in the bounding set")
        break
header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
full = ctypes.create_string_buffer(b"\xff" * 24)
refused("capset", "capset", header, full)
print("securebits ->", syscall("prctl", 28, 0))
print("ambient ->", syscall("prctl", 47, 2, 21, 0, 0))
