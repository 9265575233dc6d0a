# tries: to overflow the C stack outright
# contained: Killed Exception Memory
import ctypes, sys
sys.setrecursionlimit(2**31 - 1)
callback = ctypes.CFUNCTYPE(ctypes.c_int)
def down():
    return callback(down)()
down()
