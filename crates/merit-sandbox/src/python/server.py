# The fork server: process 1 of its own pid namespace, in a root of its own, with warm modules. It forks, passes on a
# handle of each child, reaps, and never reads a byte that a child wrote.

class Channel:
    # Datagrams with descriptors, from and to the owner.

    def __init__(self, fd):
        self.socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, fd)

    def fileno(self):
        return self.socket.fileno()

    def receive(self):
        data, ancillary, _, _ = self.socket.recvmsg(1 << 17, _socket.CMSG_SPACE(64))
        fds = array.array("i")
        for level, kind, content in ancillary:
            if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
                fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
        return data, list(fds)

    def send(self, message, fds=()):
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([json.dumps(message).encode("ascii")], rights)


class Server:
    def __init__(self, channel, fences):
        self.channel, self.fences = channel, fences
        self.children = {}
        self.own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if "pid-namespace" in fences.layers else None
        self.poller = select.poll()
        self.poller.register(channel.fileno(), select.POLLIN)

    def serve(self):
        while True:
            events = self.poller.poll()
            # Endings first: a queue of forks must not delay a verdict.
            for fd, _ in events:
                if fd in self.children:
                    self.reap(fd)
            if any(fd == self.channel.fileno() for fd, _ in events):
                data, fds = self.channel.receive()
                if not data:
                    os._exit(0)
                self.fork(json.loads(data), fds)

    def fork(self, request, fds):
        control, output, errors, notice = fds
        try:
            if self.own_pids is not None:
                setns(self.own_pids, NEWPID)
                unshare(NEWPID)
            if self.fences.scratch is not None:
                os.mkdir(scratch_of(self.fences, request), 0o700)
            pid = os.fork()
        except OSError as error:
            tell(notice, {"error": "fork: %s" % error})
            pid = None
        if pid == 0:
            be_child(self.fences, request, control, output, errors)
        for fd in (control, output, errors):
            os.close(fd)
        if pid is None:
            os.close(notice)
        else:
            self.adopt(pid, notice, request)

    def adopt(self, pid, notice, request):
        handle = os.pidfd_open(pid)
        self.children[handle] = (pid, notice, request)
        self.poller.register(handle, select.POLLIN)
        tell(notice, {"pid": pid}, (handle,))

    def reap(self, handle):
        pid, notice, request = self.children[handle]
        pid, status, usage = os.wait4(pid, os.WNOHANG)
        if pid == 0:
            return
        del self.children[handle]
        self.poller.unregister(handle)
        if self.fences.scratch is not None:
            remove_tree(scratch_of(self.fences, request))
        tell(notice, {
            "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "cpu": usage.ru_utime + usage.ru_stime,
            "peak": usage.ru_maxrss,
        })
        os.close(handle)
        os.close(notice)


def tell(notice, message, fds=()):
    channel = Channel(notice)
    try:
        channel.send(message, fds)
    except OSError:
        pass  # the owner has let go of this call
    finally:
        channel.socket.detach()


def be_child(fences, request, control, output, errors):
    # Never returns: whatever happens, this process ends here.
    try:
        try:
            take_descriptors(control, output, errors)
            os.nice(1)
            folder = fence(fences, request)
        except BaseException as error:
            write_all(CONTROL, b"E" + clean(repr(error)).encode()[:1000])
            os._exit(70)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        work(fences, folder)
    finally:
        os._exit(70)


def remove_tree(top):
    # Without recursion and without following links; whoever made the tree is dead.
    above = []
    try:
        os.chdir(top)
        while True:
            inner = clear_until_folder()
            if inner is not None:
                os.chmod(inner, 0o700)
                os.chdir(inner)
                above.append(inner)
            elif above:
                os.chdir("..")
                os.rmdir(above.pop())
            else:
                break
        os.chdir("/")
        os.rmdir(top)
    except OSError:
        os.chdir("/")


def clear_until_folder():
    # Removes what is not a folder from the current one. Returns the first folder met.
    with os.scandir(".") as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                return entry.name
            os.unlink(entry.name)
    return None
