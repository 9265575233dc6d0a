# tries: to use capabilities it may still hold
# contained: Ok
try:
    for line in open("/proc/self/status"):
        if line.startswith(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")):
            print(line.strip())
            if int(line.split()[1], 16) != 0:
                escaped(line.strip())
except OSError as error:
    print(error)
import ctypes, struct
header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
sets = ctypes.create_string_buffer(24)
print("capget ->", syscall(125, header, sets), sets.raw.hex())
if any(sets.raw):
    escaped("capabilities are held")
