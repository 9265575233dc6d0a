# tries: to stall the kernel on its own page faults
# contained: Ok Refused
refused("userfaultfd", "userfaultfd", 0)
refused("userfaultfd user", "userfaultfd", 1)
