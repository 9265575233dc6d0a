# Where the program begins: read the start message, then probe or serve.
#
# Serving takes two processes. The outer one only waits for the server to end and clears away what the host could still
# see of it (control groups, a scratch folder); the server itself is process 1 of its pid namespace, so that its end is
# the end of everything it forked.

def quiet_descriptors():
    # The control channel arrives as descriptor 0; programs must find nothing there.
    control = os.dup(0)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    if null > 2:
        os.close(null)
    return control


def fresh_streams():
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 2)
    os.close(null)
    text = lambda fd, mode, **more: open(fd, mode, encoding="utf-8", closefd=False, **more)
    sys.stdin = sys.__stdin__ = text(0, "r", errors="surrogateescape")
    sys.stdout = sys.__stdout__ = text(1, "w", errors="surrogateescape", buffering=1)
    sys.stderr = sys.__stderr__ = text(2, "w", errors="backslashreplace", buffering=1)


def enter_user_namespace():
    user, group = os.geteuid(), os.getegid()
    unshare(NEWUSER)
    for path, text in (("setgroups", "deny"), ("uid_map", "0 %d 1" % user), ("gid_map", "0 %d 1" % group)):
        with open("/proc/self/" + path, "w") as out:
            out.write(text)


def warm_up(modules, packages):
    import importlib

    sys.path += packages
    quiet = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    os.environ.update(quiet)
    for module in modules:
        importlib.import_module(module)
    for name in quiet:
        del os.environ[name]


def lock_by_folder():
    # SQLite locks its files by record locks, which programs do not have: they stand on files that sandboxes share. Its own other
    # way, a folder beside the file, works on any private disk.
    try:
        import _sqlite3
    except ImportError:
        return
    with open("/proc/self/maps") as maps:
        libraries = {line.split(None, 5)[5].strip() for line in maps if "sqlite" in line}
    for library in [None, *sorted(libraries)]:
        lib = ctypes.CDLL(library)
        if hasattr(lib, "sqlite3_vfs_find"):
            lib.sqlite3_vfs_find.restype = ctypes.c_void_p
            way = lib.sqlite3_vfs_find(b"unix-dotfile")
            if way:
                lib.sqlite3_vfs_register(ctypes.c_void_p(way), 1)
            return


def offer_exit():
    # `exit()` and `quit()`, which scripts use and only an interactive start brings along.
    import _sitebuiltins
    import builtins

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D"))


def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def raise_file_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = 1 << 16 if hard == resource.RLIM_INFINITY else min(hard, 1 << 16)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def one_arena():
    # The C library reserves 64 MiB of addresses for each thread's own arena, which would eat up the memory limit.
    if hasattr(LIBC, "mallopt"):
        LIBC.mallopt(-8, 1)


def close_inherited(control):
    for fd in range(3, control):
        LIBC.close(fd)
    close_from(control + 1)


def isolate_server(fences):
    # The outer walls; workers inherit them all.
    if "net-namespace" in fences.layers:
        unshare(NEWNET)
    if "ipc-namespace" in fences.layers:
        unshare(NEWIPC | NEWUTS)
        checked(LIBC.sethostname(b"sandbox", ctypes.c_size_t(7)), "sethostname")
    if "mount-namespace" in fences.layers:
        unshare(NEWNS)
        build_root(fences.folders)
    elif fences.root:
        check_reachable(fences.folders)
    if "unprivileged" in fences.layers:
        drop_bounding_set()
        if fences.root:
            os.setgroups([])
    if "rlimits" in fences.layers:
        set_fixed_limits()
    if "no-new-privileges" in fences.layers:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    if "seccomp" in fences.layers:
        install_seccomp(fences.programs[0])


def be_server(channel, start, fences):
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    raise_file_limit()
    one_arena()
    warm_up(start["modules"], start["packages"])
    lock_by_folder()
    offer_exit()
    fences.folders = interpreter_folders(start["packages"])
    server = Server(channel, fences)
    fences.base_memory = address_space()
    own = os.pidfd_open(os.getpid())
    isolate_server(fences)
    fresh_streams()
    rehearse()
    gc.collect()
    gc.freeze()
    channel.send({"ready": True, "detail": fences.detail}, (own,))
    os.close(own)
    server.serve()


def report_failure(channel, error):
    import traceback

    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    channel.send({"error": clean(str(error)) or repr(error), "trace": clean(text)[-4000:]})


def serve(channel, start):
    fences = Fences(start)
    scratch, groups = None, []
    if "user-namespace" in fences.layers:
        enter_user_namespace()
    if "mount-namespace" not in fences.layers:
        import tempfile

        scratch = fences.scratch = tempfile.mkdtemp(prefix="merit-sandbox-")
        os.chmod(scratch, 0o711)
    if "cgroup" in fences.layers:
        groups, fences.detail = make_groups("merit-%d" % os.getpid(), start["group_limits"])
    go_read, go_write = os.pipe()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if "pid-namespace" in fences.layers:
        unshare(NEWPID)
    pid = os.fork()
    if pid == 0:
        try:
            os.close(go_write)
            os.read(go_read, 1)
            os.close(go_read)
            be_server(channel, start, fences)
        except BaseException as error:
            report_failure(channel, error)
        finally:
            os._exit(1)
    outlive_server(channel, pid, groups, scratch, go_write)


def outlive_server(channel, pid, groups, scratch, go_write):
    channel.socket.close()
    try:
        enter_groups(groups, pid)
    except OSError:
        pass
    os.close(go_write)
    # Without a pid namespace, workers outlive the server by a moment and come to us.
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    remove_groups(groups)
    if scratch is not None:
        import shutil

        for name in os.listdir(scratch):
            remove_tree(os.path.join(scratch, name))
        shutil.rmtree(scratch, ignore_errors=True)
    os._exit(0)


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    gc.disable()
    control = quiet_descriptors()
    close_inherited(control)
    channel = Channel(control)
    data, _ = channel.receive()
    if not data:
        os._exit(0)
    start = json.loads(data)
    try:
        if start["mode"] == "probe":
            channel.send({"layers": probe_all(start)})
        else:
            serve(channel, start)
    except BaseException as error:
        report_failure(channel, error)
    os._exit(0)


main()
