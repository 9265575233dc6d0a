# tries: the C library's exit, which runs exit handlers
# contained: Exception Killed
import ctypes
ctypes.CDLL(None).exit(0)
