# tries: secrets in the environment
# contained: Ok
# bare: canary-environment
import ctypes, os, sys
print(dict(os.environ), os.environb)
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
print(libc.getenv(b"{{ENV_NAME}}"))
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
index = 0
while environ and environ[index]:
    print(environ[index])
    index += 1
