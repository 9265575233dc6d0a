# Put before every hostile program: a way to say "I got out" that no source line can fake, and raw system calls.
def escaped(why):
    import os
    os.write(1, ("\nESC" + "APED " + str(why) + "\n").encode("utf-8", "replace"))


def attempt(label, action):
    try:
        result = action()
    except Exception as error:
        print(f"{label}: {type(error).__name__} {error}"[:300])
        return None
    print(f"{label}: {result!r}"[:300])
    return result


# name: (x86_64, aarch64); None where that machine has no such call.
CALLS = {
    "fork": (57, None), "vfork": (58, None), "clone": (56, 220), "clone3": (435, 435),
    "execve": (59, 221), "execveat": (322, 281), "kill": (62, 129), "tgkill": (234, 131), "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "kcmp": (312, 272),
    "perf_event_open": (298, 241), "bpf": (321, 280), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "userfaultfd": (323, 282), "unshare": (272, 97), "setns": (308, 268),
    "personality": (135, 92), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsmount": (432, 432), "mount_setattr": (442, 442), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "openat2": (437, 437), "mknodat": (259, 33), "io_uring_setup": (425, 425),
    "io_setup": (206, 0), "socket": (41, 198), "seccomp": (317, 277), "prctl": (157, 167),
    "capset": (126, 91), "setuid": (105, 146), "setgid": (106, 144), "setgroups": (116, 159),
    "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "sethostname": (170, 161), "setdomainname": (171, 162),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "swapon": (167, 224),
    "acct": (163, 89), "syslog": (103, 116), "quotactl": (179, 60), "fanotify_init": (300, 262),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "vmsplice": (278, 75), "move_pages": (279, 239),
    "migrate_pages": (256, 238), "prlimit64": (302, 261), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "landlock_restrict_self": (446, 446), "mlockall": (151, 230),
    "sched_setaffinity": (203, 122), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "sched_setscheduler": (144, 119), "setsid": (112, 157), "vhangup": (153, 58), "lookup_dcookie": (212, 18),
    "rt_tgsigqueueinfo": (297, 240), "brk": (12, 214), "timer_create": (222, 107), "inotify_init1": (294, 26),
}


def syscall(name, *arguments):
    """The raw call: its result, or minus the error number."""
    import ctypes
    import platform
    number = CALLS[name][0 if platform.machine() == "x86_64" else 1] if isinstance(name, str) else name
    if number is None:
        return -38
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    ctypes.set_errno(0)
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    return -ctypes.get_errno() if result == -1 else result


def refused(label, *call):
    """Tries a call that must fail; anything else is a way out."""
    result = syscall(*call)
    print(label, "->", result)
    if result >= 0:
        escaped(label + " was allowed")
    return result
