# Which layers this kernel really gives: each is tried in a process of its own and looked at from inside.

def tried(attempt):
    # Runs `attempt` in a throw-away process. Returns [available, detail].
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            answer = [True, attempt()]
        except BaseException as error:
            answer = [False, clean(str(error)) or repr(error)]
        write_all(write, json.dumps(answer).encode("ascii"))
        os._exit(0)
    os.close(write)
    with open(read, "rb") as answer:
        text = answer.read()
    _, status = os.waitpid(pid, 0)
    return json.loads(text) if text else [False, "the process that tried it died (status %d)" % status]


def through(direct, attempt):
    # Who may not make namespaces directly gets them through a user namespace.
    def within():
        if not direct:
            enter_user_namespace()
        return attempt()

    return within


def is_direct():
    # Root may also be one that was stripped of its rights; a user namespace then serves better, if it can be had.
    make = lambda: unshare(NEWNS)
    return os.geteuid() == 0 and (tried(make)[0] or not tried(through(False, make))[0])


def try_user():
    enter_user_namespace()
    return "own user ids"


def try_mount():
    unshare(NEWNS)
    build_root(interpreter_folders([]))
    if os.path.exists("/proc") or os.path.exists("/etc") or not os.path.exists("/dev/null"):
        raise OSError(errno.EPERM, "the private root still shows the host's files")
    mount("merit", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k")
    return "own root with %d entries, private tmpfs" % len(os.listdir("/"))


def try_pid():
    unshare(NEWPID)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if os.getpid() == 1 else 1)
    if os.waitpid(pid, 0)[1] != 0:
        raise OSError(errno.EPERM, "the child is not process 1")
    os.close(os.pidfd_open(os.getpid()))
    return "one per program"


def try_net():
    unshare(NEWNET)
    names = [name for _, name in _socket.if_nameindex()]
    if names != ["lo"]:
        raise OSError(errno.EPERM, "interfaces are still there: %s" % names)
    return "loopback only, down"


def try_ipc():
    unshare(NEWIPC | NEWUTS)
    return "own ipc and host name"


def try_landlock():
    abi = landlock_abi()
    if abi < 1:
        raise OSError(errno.ENOSYS, "this kernel has no landlock, or it is switched off")
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    install_landlock(abi, [("/dev/null", READ_FILE)])
    os.close(os.open("/dev/null", os.O_RDONLY))
    try:
        os.listdir("/")
    except OSError as error:
        if error.errno == errno.EACCES:
            return landlock_detail(abi)
    raise OSError(errno.EPERM, "landlock was set but does not hold")


def try_seccomp(start):
    programs = [seccomp_program(bytes.fromhex(code)) for code in start["filters"]]
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    install_seccomp(programs[0])
    install_seccomp(programs[1])
    try:
        _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0)
    except OSError as error:
        if error.errno == errno.EPERM:
            lengths = programs[0].length, programs[1].length
            return "a list of calls, %d instructions, and %d for each program" % lengths
    raise OSError(errno.EPERM, "the filter was set but does not hold")


def try_rlimits(direct):
    set_fixed_limits()
    lower(resource.RLIMIT_AS, address_space() + (64 << 20))
    try:
        bytearray(256 << 20)
    except MemoryError:
        shared = "" if can_have_own_ids(direct) else "; tasks are counted over all programs together"
        return "memory, files, tasks" + shared
    raise OSError(errno.EPERM, "the memory limit does not hold")


def try_privileges():
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    return "held for good"


def try_unprivileged(direct):
    drop_bounding_set()
    if direct:
        user = OWN_IDS if can_have_own_ids(direct) else 65534
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        drop_capabilities()
        return "a user id for each program" if user == OWN_IDS else "as nobody (65534), shared by all programs"
    enter_user_namespace()
    unshare(NEWUSER)
    drop_capabilities()
    return "no capabilities, no ids"


def try_cgroup(start):
    made, text = make_groups("merit-probe-%d" % os.getpid(), start["group_limits"])
    remove_groups(made)
    if not made:
        raise OSError(errno.EPERM, text)
    return text


# User ids no system hands out; each running program gets one, so that its tasks are counted apart.
OWN_IDS = 0x40000000


def can_have_own_ids(direct):
    if not direct:
        return True  # by a user namespace each
    with open("/proc/self/uid_map") as file:
        spans = [list(map(int, line.split())) for line in file]
    return any(first <= OWN_IDS and OWN_IDS * 2 <= first + count for first, _, count in spans)


def probe_all(start):
    direct = is_direct()
    attempts = {
        "user-namespace": try_user,
        "mount-namespace": through(direct, try_mount),
        "pid-namespace": through(direct, try_pid),
        "net-namespace": through(direct, try_net),
        "ipc-namespace": through(direct, try_ipc),
        "landlock": try_landlock,
        "seccomp": lambda: try_seccomp(start),
        "rlimits": lambda: try_rlimits(direct),
        "no-new-privileges": try_privileges,
        "unprivileged": lambda: try_unprivileged(direct),
        "cgroup": lambda: try_cgroup(start),
    }
    layers = {name: tried(attempt) for name, attempt in attempts.items()}
    return {"layers": layers, "own_ids": can_have_own_ids(direct), "root": direct}
