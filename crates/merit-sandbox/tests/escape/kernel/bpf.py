# tries: programs inside the kernel
# contained: Ok Refused
import ctypes
attributes = ctypes.create_string_buffer(128)
for command in range(0, 6):
    refused(f"bpf {command}", "bpf", command, attributes, 128)
