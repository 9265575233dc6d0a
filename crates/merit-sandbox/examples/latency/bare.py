# A fork server without fences, the peer that the sandbox is measured beside: the same modules warm, a fork for each call,
# code down a socket, a report up.

import array, ast, gc, importlib, json, os, select, signal, struct, sys
import _socket


def read(fd, count):
    data = b""
    while len(data) < count:
        part = os.read(fd, count - len(data))
        if not part:
            os._exit(0)
        data += part
    return data


def child(fds):
    control, output, errors = fds
    os.dup2(output, 1)
    os.dup2(errors, 2)
    code = read(control, struct.unpack("<I", read(control, 4))[0]).decode()
    tree = compile(code, "<snippet>", "exec", ast.PyCF_ONLY_AST)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    scope = {"__name__": "__main__"}
    exec(compile(tree, "<snippet>", "exec"), scope)
    value = repr(eval(compile(last, "<snippet>", "eval"), scope)) if last else None
    sys.stdout.flush()
    report = json.dumps({"verdict": "ok", "value": value}).encode()
    os.write(control, struct.pack("<I", len(report)) + report)
    os._exit(0)


def main():
    for module in sys.argv[1].split(","):
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, os.dup(0))
    gc.disable()
    gc.collect()
    gc.freeze()
    poller = select.poll()
    poller.register(channel.fileno(), select.POLLIN)
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        poller.poll(50)
        try:
            data, ancillary, _, _ = channel.recvmsg(64, _socket.CMSG_SPACE(64), _socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        if not data:
            while True:
                try:
                    os.waitpid(-1, 0)
                except ChildProcessError:
                    os._exit(0)
        fds = array.array("i")
        fds.frombytes(ancillary[0][2][:12])
        if os.fork() == 0:
            try:
                child(list(fds))
            finally:
                os._exit(1)
        for fd in fds:
            os.close(fd)


main()
