# tries: open_by_handle_at with a guessed root inode (the way out of old containers)
# contained: Ok Refused
import ctypes, struct
for inode in (2, 1, 128):
    for kind in (1, 2, 0x81):
        handle = ctypes.create_string_buffer(struct.pack("IiII", 8, kind, inode, 0) + bytes(120))
        result = syscall("open_by_handle_at", -100, handle, 0)
        if result >= 0:
            escaped("opened by handle")
buffer = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
print(syscall("name_to_handle_at", -100, b"/", buffer, ctypes.byref(ctypes.c_int()), 0), result)
