# tries: the kernel's key rings, shared with the user's other processes
# contained: Ok Refused
refused("add_key", "add_key", b"user", b"merit", b"x", 1, -4)
refused("keyctl", "keyctl", 0, -4, 1)
refused("request_key", "request_key", b"user", b"merit", 0, -4)
