# tries: openat2 with its own resolution rules
# contained: Ok
# bare: canary-file
import ctypes, os, struct
how = ctypes.create_string_buffer(struct.pack("QQQ", os.O_RDONLY, 0, 0))
result = syscall("openat2", -100, b"{{CANARY_FILE}}", how, 24)
print("openat2 ->", result)
if result >= 0:
    print(os.read(result, 200))
