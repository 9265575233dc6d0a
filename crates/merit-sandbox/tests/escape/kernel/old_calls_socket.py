# tries: a 32-bit socketcall and kill by machine code
# contained: Ok Killed Refused Exception
import ctypes, mmap, platform
if platform.machine() == "x86_64":
    area = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    # push rbx; mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; pop rbx; ret
    area[0:22] = bytes.fromhex("53b867010000bb02000000b90100000031d2cd805bc3")
    result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    print("int 0x80 socket ->", result)
    if result >= 0:
        escaped("a 32-bit socket went through")
