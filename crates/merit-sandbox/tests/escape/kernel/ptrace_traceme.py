# tries: to be traced, which changes how it is stopped
# contained: Refused
refused("traceme", "ptrace", 0, 0, 0, 0)
