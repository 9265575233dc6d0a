# The call's own socket as the child sees it, and what comes down it: jobs, files, standard input, a peer's descriptor.

def write_all(fd, data):
    try:
        while data:
            data = data[os.write(fd, data):]
    except OSError:
        pass


class Line:
    # Frames over the call's own socket: a length, then JSON; texts and files follow the JSON as they are.

    def __init__(self, fd):
        self.fd = fd

    def read(self, count):
        parts = []
        while count:
            part = os.read(self.fd, min(count, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def receive(self):
        header = json.loads(self.read(struct.unpack("<I", self.read(4))[0]))
        code = self.read(header["code"]).decode("utf-8")
        return header, code

    def take_peer(self):
        # The peer's descriptor travels with one byte of its own.
        channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, self.fd)
        _, ancillary, _, _ = channel.recvmsg(1, _socket.CMSG_SPACE(4))
        channel.detach()
        fd = struct.unpack("=i", ancillary[0][2][:4])[0]
        if fd != PEER:
            os.dup2(fd, PEER)
            os.close(fd)

    def send(self, report):
        data = json.dumps(report).encode("ascii")
        write_all(self.fd, struct.pack("<I", len(data)) + data)


def put_files(line, files):
    for name, size in files:
        folder = os.path.dirname(name)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") as file:
            file.write(line.read(size))


def put_stdin(data):
    fd = os.open(".stdin", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(".stdin")
    write_all(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    os.dup2(fd, 0)
    os.close(fd)
