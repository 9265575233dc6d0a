# tries: to sleep inside C, restarting after every interruption
# contained: Time
# limits: seconds=0.5
import ctypes
libc = ctypes.CDLL(None)
while True:
    libc.sleep(100000)
