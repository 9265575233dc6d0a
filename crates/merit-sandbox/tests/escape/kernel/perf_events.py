# tries: performance counters, which see other processes
# contained: Ok Refused
import ctypes, struct
attributes = ctypes.create_string_buffer(struct.pack("II", 1, 112) + bytes(104))
refused("perf", "perf_event_open", attributes, 0, -1, -1, 0)
