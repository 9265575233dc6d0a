# tries: names with NUL, newlines, lone surrogates, invalid UTF-8, dots, controls and right-to-left marks
# contained: Ok
import os
names = ["a\0b", "a\nb", "\udc80\udcff", "\ud800", "...", "..\\..", " ", "\u202egnp.exe", "a/../b", "é", "e\u0301", "\x1b[2J", "💥" * 60]
for name in names:
    attempt(ascii(name)[:40], lambda: open(name, "w").close())
attempt("bytes", lambda: open(b"\xff\xfe\x00"[:2], "w").close())
print(len(os.listdir(b".")))
