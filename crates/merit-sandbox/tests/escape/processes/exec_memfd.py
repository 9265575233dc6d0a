# tries: to exec a program that exists only in memory
# contained: Ok Refused
import os, struct
# A 64-bit program of two calls: write(1, text) and exit(0).
text = b"ESC" + b"APED from memory\n"
start = 0x400078
code = bytes.fromhex("b801000000bf01000000be") + struct.pack("<I", start + 34) + b"\xba" + struct.pack("<I", len(text))
code += bytes.fromhex("0f05b83c00000031ff0f05")
code = code.ljust(34, b"\x90")
image = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, start, 64, 0, 0, 64, 56, 1, 0, 0, 0)
size = 120 + len(code) + len(text)
image += struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 4096) + code + text
def by_memfd():
    fd = os.memfd_create("program", 0)
    os.write(fd, image)
    os.execve(fd, ["program"], {})
def by_file():
    with open("program", "wb") as file:
        file.write(image)
    os.chmod("program", 0o755)
    os.execv(os.path.abspath("program"), ["program"])
attempt("memfd", by_memfd)
attempt("file", by_file)
