# What a forked child does to itself before any foreign code: folders, limits, identity, landlock, seccomp. What can be
# inherited, the server has set already.

PEER, CONTROL = 3, 4


class Fences:
    # What the server knows and every child inherits.

    def __init__(self, start):
        self.layers = set(start["layers"])
        self.programs = [seccomp_program(bytes.fromhex(code)) for code in start["filters"]]
        self.folders = []
        self.own_ids = start["own_ids"]
        self.crowd = start["crowd"]
        self.scratch = None
        self.base_memory = 0
        self.detail = ""
        self.abi = landlock_abi() if "landlock" in self.layers else 0
        self.root = os.geteuid() == 0 and "user-namespace" not in self.layers


def take_descriptors(control, output, errors):
    os.dup2(output, 1)
    os.dup2(errors, 2)
    # An open file of its own: what one program does to a shared one, the next would see.
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    if control != CONTROL:
        os.dup2(control, CONTROL)
    LIBC.close(PEER)
    close_from(CONTROL + 1)


def private_folder(fences, request):
    # The only place a program can write to: a small tmpfs, or a folder of its own where mounts are not to be had.
    user = request["user"] if fences.root else 0
    if "mount-namespace" in fences.layers:
        unshare(NEWNS)
        options = "size=%d,nr_inodes=%d,mode=0700,uid=%d,gid=%d" % (
            request["disk"], 1024 + request["disk"] // 4096, user, user)
        mount("merit", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
        folder = "/tmp"
    else:
        folder = scratch_of(fences, request)
        if fences.root:
            os.chown(folder, user, user)
    os.chdir(folder)
    return folder


def scratch_of(fences, request):
    return os.path.join(fences.scratch, str(request["id"]))


def lower(kind, value):
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def set_limits(fences, limits):
    lower(resource.RLIMIT_AS, fences.base_memory + limits["memory"])
    lower(resource.RLIMIT_FSIZE, limits["disk"])
    lower(resource.RLIMIT_NOFILE, limits["open_files"])
    tasks = 1 + limits["threads"] + limits["processes"]
    lower(resource.RLIMIT_NPROC, tasks if fences.own_ids else tasks * fences.crowd)
    if limits["cpu"]:
        lower(resource.RLIMIT_CPU, limits["cpu"])


def set_fixed_limits():
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE, resource.RLIMIT_RTPRIO):
        lower(kind, 0)
    lower(resource.RLIMIT_SIGPENDING, 256)
    lower(resource.RLIMIT_STACK, 8 << 20)


def become_nobody(fences, request):
    if fences.root:
        os.setresgid(request["user"], request["user"], request["user"])
        os.setresuid(request["user"], request["user"], request["user"])
    elif "user-namespace" in fences.layers:
        # A namespace with no mapped ids: nobody to the kernel, and a task count of its own.
        unshare(NEWUSER)
    drop_capabilities()


def landlock_rules(fences, folder):
    rules = [(path, READ_FILE | READ_DIR) for path in fences.folders]
    rules += [(device, (READ_FILE | 1 << 1) & FILE_RIGHTS) for device in DEVICES]
    return rules + [(folder, TMP_RIGHTS)]


def fence(fences, request):
    folder = private_folder(fences, request)
    if "unprivileged" in fences.layers:
        become_nobody(fences, request)
    if "rlimits" in fences.layers:
        set_limits(fences, request)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    prctl(PR_SET_DUMPABLE, 0)
    if "landlock" in fences.layers:
        install_landlock(fences.abi, landlock_rules(fences, folder))
    if "seccomp" in fences.layers:
        install_seccomp(fences.programs[2 if request["processes"] else 1])
    return folder
