# tries: to change the numbers that every later program would share
# contained: Ok Exception Killed Time Memory
# limits: seconds=2
import ctypes
ctypes.c_uint32.from_address(id(7) + 24).value = 8
print(7 + 0, 3 + 4)
