# tries: to read more input than was meant for it
# contained: Ok
import os, sys
print(len(sys.stdin.read()))
while True:
    more = os.read(0, 65536)
    if not more:
        break
    escaped("more input came")
