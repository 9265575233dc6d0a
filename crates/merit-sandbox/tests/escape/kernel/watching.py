# tries: to watch other files and processes
# contained: Ok Refused
import os
refused("fanotify", "fanotify_init", 0, 0)
refused("kcmp", "kcmp", os.getpid(), os.getppid(), 0, 0, 0)
refused("lookup_dcookie", "lookup_dcookie", 0, 0, 0)
