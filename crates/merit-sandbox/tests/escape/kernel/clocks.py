# tries: to set the machine's clocks
# contained: Ok Refused
import ctypes, struct, time
value = ctypes.create_string_buffer(struct.pack("qq", int(time.time()), 0))
refused("settimeofday", "settimeofday", value, 0)
refused("clock_settime", "clock_settime", 0, value)
timex = ctypes.create_string_buffer(struct.pack("I", 0x4000) + bytes(300))
refused("adjtimex", "adjtimex", timex)
