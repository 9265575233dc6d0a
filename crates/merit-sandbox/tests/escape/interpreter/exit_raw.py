# tries: the raw exit calls
# contained: Exception Killed
import ctypes, platform
ctypes.CDLL(None).syscall(231 if platform.machine() == "x86_64" else 94, 0)
