# tries: the ring interface, whose requests pass no filter
# contained: Ok Refused
import ctypes
parameters = ctypes.create_string_buffer(120)
refused("io_uring_setup", "io_uring_setup", 8, parameters)
refused("io_uring_enter", 426, 0, 0, 0, 0, 0, 0)
refused("io_uring_register", 427, 0, 0, 0, 0)
