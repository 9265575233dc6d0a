# tries: segment tables and ports of the processor
# contained: Ok Refused
import ctypes
entry = ctypes.create_string_buffer(16)
refused("modify_ldt", "modify_ldt", 1, entry, 16)
refused("iopl", "iopl", 3)
refused("ioperm", "ioperm", 0x80, 1, 1)
