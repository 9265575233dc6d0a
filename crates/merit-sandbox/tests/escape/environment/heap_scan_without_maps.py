# tries: to find another call's text by walking all memory around its own objects, asking the kernel page by page what is mapped
# contained: Ok Killed Exception
import ctypes, gc, re
libc = ctypes.CDLL(None, use_errno=True)
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
PAGE, answer = 4096, ctypes.create_string_buffer(1)
mark = re.compile(b"CROSS" + b"-CALL-" + b"[0-9a-f]{16}")
seen, scanned = set(), 0
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
starts = sorted({id(thing) // PAGE for thing in gc.get_objects()})
starts += [libc.malloc(size) // PAGE for size in (64, 2000, 100000, 1 << 22)]
for start in starts:
    for step in (1, -1):
        page = start
        while page > 16 and page not in seen and libc.mincore(page * PAGE, PAGE, answer) == 0:
            seen.add(page)
            page += step
        seen.discard(start if step == 1 else None)
pages = sorted(seen)
print("pages mapped around the heap:", len(pages))
for page in pages:
    if libc.mincore(page * PAGE, PAGE, answer) == 0:
        text = ctypes.string_at(page * PAGE, PAGE)
        scanned += 1
        for found in set(mark.findall(text)):
            print(found)
print("scanned", scanned)
