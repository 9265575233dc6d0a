# tries: to crash the interpreter
# contained: Killed
import ctypes
ctypes.string_at(0)
