# Messages over a stream socket: a length, then JSON.

import json, os, select, sys, time

MAX_MESSAGE = 8 << 20


class Gone(Exception):
    # The other side has closed the connection.
    pass


class Late(Exception):
    # The deadline passed while waiting.
    pass


def no_objects(_):
    raise Unfit("a message has a JSON object")


encode = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
decode = json.JSONDecoder(object_pairs_hook=no_objects).decode


class Channel:
    # Messages over a stream socket, none of which waits beyond `deadline`.

    def __init__(self, fd):
        self.fd, self.held, self.deadline = fd, bytearray(), None
        os.set_blocking(fd, False)
        self.readable, self.writable = select.poll(), select.poll()
        self.readable.register(fd, select.POLLIN)
        self.writable.register(fd, select.POLLOUT)

    def wait(self, poll):
        if self.deadline is None:
            return poll.poll()
        left = self.deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise Late()

    def send(self, message):
        data = encode(message).encode("ascii")
        if len(data) > MAX_MESSAGE:
            raise TooBig("a message of %d bytes; at most %d" % (len(data), MAX_MESSAGE))
        left = memoryview(len(data).to_bytes(4, "big") + data)
        while left:
            try:
                left = left[os.write(self.fd, left):]
            except BlockingIOError:
                self.wait(self.writable)
            except (BrokenPipeError, ConnectionResetError):
                raise Gone() from None

    def receive(self):
        size = int.from_bytes(self.take(4), "big")
        if size > MAX_MESSAGE:
            raise TooBig("a message of %d bytes; at most %d" % (size, MAX_MESSAGE))
        return decode(self.take(size).decode("ascii"))

    def take(self, count):
        while len(self.held) < count:
            self.wait(self.readable)
            try:
                part = os.read(self.fd, 1 << 18)
            except BlockingIOError:
                continue
            except ConnectionResetError:
                part = b""
            if not part:
                raise Gone()
            self.held += part
        taken = bytes(self.held[:count])
        del self.held[:count]
        return taken
