# Runs a program's text and says what came of it. Everything here lives in the same process as the program, so its word
# counts for nothing more than the program's own: who needs a judge runs one in another child.

MAX_VALUE = 4000
MAKERS = {"os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "subprocess.Popen", "_thread.start_new_thread"}
WATCHED = MAKERS | {
    "os.exec", "os.system", "os.kill", "os.killpg", "os.chown", "os.setxattr", "os.lockf", "fcntl.fcntl", "fcntl.flock",
    "fcntl.ioctl", "fcntl.lockf", "socket.__new__", "socket.connect", "socket.bind", "socket.sendmsg", "socket.sendto",
    "socket.gethostbyname", "socket.getaddrinfo", "resource.prlimit", "resource.setrlimit", "pty.spawn",
}


# The last watched thing the program asked for.
ASKED = [""]


def notice(event, _):
    if event in WATCHED:
        ASKED[0] = event


class DeadlinePassed(BaseException):
    pass


class Runner:
    def __init__(self):
        self.armed, self.late = False, False
        self.main = fresh_main()
        self.spent = processor_seconds()

    def alarm(self, *_):
        if self.armed:
            self.armed, self.late = False, True
            raise DeadlinePassed()

    def run(self, code, name, seconds, most, last=False):
        # One program or cell. Returns the report as plain data. A last one is ended as Python ends a script.
        remember_source(name, code)
        ASKED[0], self.late = "", False
        signal.signal(signal.SIGALRM, self.alarm)
        error = value = None
        try:
            try:
                self.armed = True
                signal.setitimer(signal.ITIMER_REAL, seconds)
                try:
                    value = shown(execute(code, name, self.main.__dict__))
                finally:
                    if last:
                        end_script()
                flush_all()
            except BaseException as caught:
                self.armed = False
                error = caught
            self.armed = False
        except DeadlinePassed as caught:
            error = caught
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.late:
            error = error if isinstance(error, DeadlinePassed) else DeadlinePassed()
        try:
            report = self.classify(error, name)
        except BaseException:
            # An exception whose own attributes raise.
            report = {"verdict": "exception", "kind": "Exception", "message": "", "traceback": ""}
        if error is None:
            report["value"] = value
            self.take_result(report, most)
        flush_all()
        self.measure(report)
        return report

    def take_result(self, report, most):
        result = self.main.__dict__.pop("__result__", None)
        if not isinstance(result, str):
            return
        result = clean(result)
        if len(result.encode("utf-8")) > most:
            report["verdict"], report["value"] = "output", None
        else:
            report["value"] = result

    def measure(self, report):
        total = processor_seconds()
        report["cpu"], self.spent = total - self.spent, total
        report["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def classify(self, error, name):
        if error is None or isinstance(error, SystemExit) and error.code in (None, 0):
            return {"verdict": "ok"}
        if isinstance(error, DeadlinePassed):
            write_all(2, ("stopped at the deadline\n" + traceback_of(error).rpartition("\n")[0] + "\n").encode())
            return {"verdict": "time"}
        if isinstance(error, MemoryError):
            return {"verdict": "memory"}
        if self.too_many_tasks(error):
            return {"verdict": "processes"}
        if isinstance(error, OSError) and error.errno == errno.EPERM:
            return {"verdict": "refused", "call": self.what_was_asked(error, name)}
        return {
            "verdict": "exception",
            "kind": cut(clean(kind_of(error)), 200),
            "message": message_of(error),
            "traceback": traceback_of(error),
        }

    def too_many_tasks(self, error):
        if isinstance(error, RuntimeError) and message_of(error).startswith("can't start new thread"):
            return True
        return isinstance(error, OSError) and error.errno == errno.EAGAIN and ASKED[0] in MAKERS

    def what_was_asked(self, error, name):
        lines = [number for file, number, _ in frames_of(error) if file == name]
        where = "line %d: %s" % (lines[-1], source_line(name, lines[-1])) if lines else ""
        return clean(", ".join(part for part in (ASKED[0], where) if part)) or message_of(error)


def processor_seconds():
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def fresh_main():
    main = type(sys)("__main__")
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    return main


def remember_source(name, code):
    import linecache

    linecache.cache[name] = (len(code), None, code.splitlines(True), name)


def execute(code, name, scope):
    # The value of a last expression, as at a prompt; None otherwise.
    import ast

    tree = compile(code, name, "exec", ast.PyCF_ONLY_AST, True)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    if tree.body:
        exec(compile(tree, name, "exec", 0, True), scope)
    return eval(compile(last, name, "eval", 0, True), scope) if last is not None else None


def shown(value):
    if value is None:
        return None
    if type(value) in (str, bytes) and len(value) > MAX_VALUE:
        return cut(clean(repr(value[:MAX_VALUE])), MAX_VALUE) + "..."
    try:
        return cut(clean(repr(value)), MAX_VALUE)
    except MemoryError:
        return "<%s: too large to show>" % type(value).__name__


def flush_all():
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except BaseException:
            pass


def end_script():
    # What Python does after a script's last line: waits for its threads, runs its exit handlers, writes out its files.
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    if "atexit" in sys.modules:
        sys.modules["atexit"]._run_exitfuncs()
    import io

    for one in gc.get_objects():
        if issubclass(type(one), (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)):
            try:
                one.flush()
            except (OSError, ValueError):
                pass


def prepare(header, fences, line, folder):
    import random

    if header["peer"]:
        line.take_peer()
    put_files(line, header["files"])
    if header["stdin"]:
        put_stdin(line.read(header["stdin"]))
    random.seed(header["seed"])
    sys.path.insert(0, folder)
    os.environ["TMPDIR"] = folder
    if "rlimits" in fences.layers:
        set_limits(fences, header["limits"])  # the same or narrower, and the processor's
    runner = Runner()
    runner.main.__argument__ = header["argument"]
    runner.main.__file__ = os.path.join(folder, header["name"])
    return runner


def work(fences, folder):
    # A job is one program; a session answers cell after cell until its socket closes.
    line = Line(CONTROL)
    write_all(CONTROL, b"R")
    play(SCENE)
    header, code = line.receive()
    runner = prepare(header, fences, line, folder)
    gc.enable()
    sys.argv = [header["name"]]
    while True:
        report = runner.run(code, header["name"], header["seconds"], header["most"], not header["session"])
        report["cell"] = header["cell"]
        line.send(report)
        if not header["session"]:
            os._exit(0)
        header, code = line.receive()
