# tries: bytes that are no text
# contained: Ok
import os, sys
os.write(1, bytes(range(256)) * 4)
sys.stdout.buffer.write(b"\xff\xfe\xed\xa0\x80\0")
os.write(2, b"\x80" * 100)
