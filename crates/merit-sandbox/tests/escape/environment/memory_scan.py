# tries: to find another call's text in the raw memory it was forked with
# contained: Ok Exception Killed
import ctypes, re
mark = re.compile(b"CROSS" + b"-CALL-" + b"[0-9a-f]{16}")
try:
    maps = open("/proc/self/maps").read()
except OSError as error:
    maps = ""
    print(error)
for line in maps.splitlines():
    span, mode = line.split()[:2]
    if "r" not in mode or "[v" in line:
        continue
    low, high = (int(part, 16) for part in span.split("-"))
    if high - low < 1 << 27:
        for found in set(mark.findall(ctypes.string_at(low, high - low))):
            print(found)
