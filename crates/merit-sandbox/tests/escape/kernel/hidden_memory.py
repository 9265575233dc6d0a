# tries: memory that the kernel cannot see and pages of others
# contained: Ok Refused
import os
refused("memfd_secret", "memfd_secret", 0)
refused("move_pages", "move_pages", 1 if os.getpid() != 1 else 2, 0, 0, 0, 0, 0)
refused("migrate_pages", "migrate_pages", 1 if os.getpid() != 1 else 2, 0, 0, 0)
refused("vmsplice", "vmsplice", -1, 0, 0, 0)
