# tries: a filter that makes every later call of the harness seem to succeed
# contained: Ok Killed Exception Time
# limits: seconds=2
import ctypes, struct
# Return "error 0" for all calls: writes claim success and reach nobody.
lie = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x00050000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(lie)))
print("seccomp ->", syscall("seccomp", 1, 0, program))
