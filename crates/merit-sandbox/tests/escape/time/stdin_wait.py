# tries: to wait for input that never comes
# contained: Ok Exception
import sys
print(repr(sys.stdin.read()))
import os
print(os.read(0, 10))
