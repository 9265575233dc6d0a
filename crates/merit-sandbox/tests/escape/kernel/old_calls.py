# tries: 32-bit calls by machine code, whose numbers mean other things to a filter
# contained: Ok Killed Refused Exception
import ctypes, mmap, platform
if platform.machine() == "x86_64":
    area = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    # push rbx; mov eax, 2 (fork of 32 bits); int 0x80; pop rbx; ret
    area.write(bytes.fromhex("53b802000000cd805bc3"))
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    print("int 0x80 fork ->", result)
    if result >= 0:
        escaped("a 32-bit fork went through")
