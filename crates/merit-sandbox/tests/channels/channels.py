# Ways to pass bits between two programs that share a machine. Given: NAME, ROLE, SECRET, START. The sender sends SECRET in time slots
# by the channel NAME; the reader prints what it read. Whatever is refused leaves the bit at 0.
import atexit, ctypes, os, socket, struct, threading, time

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
BITS, SLOT = 32, 0.04
SHARED = os.__file__


def slot(number, share):
    time.sleep(max(0.0, START + (number + share) * SLOT - time.time()))


def locked(path):
    import fcntl

    fd = os.open(path, os.O_RDONLY)
    query = lambda kind: struct.pack("hhqqi4x", kind, 0, 5, 1, 0)

    def send(bit, number):
        fcntl.fcntl(fd, 6, query(0 if bit else 2))

    def read(number):
        return struct.unpack("hhqqi4x", fcntl.fcntl(fd, 5, query(1)))[0] != 2

    return send, read


def flocked():
    import fcntl

    fd = os.open(SHARED, os.O_RDONLY)

    def send(bit, number):
        fcntl.flock(fd, fcntl.LOCK_EX if bit else fcntl.LOCK_UN)

    def read(number):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(fd, fcntl.LOCK_UN)
            return False
        except BlockingIOError:
            return True

    return send, read


def futex():
    # A page of a file that both have mapped; the sender waits there, the reader is told how many it woke.
    fd = os.open(SHARED, os.O_RDONLY)
    page = LIBC.mmap(None, ctypes.c_size_t(4096), 1, 1, fd, ctypes.c_long(0))
    word = ctypes.c_uint32.from_address(page).value
    call = lambda op, value, until: LIBC.syscall(202, ctypes.c_void_p(page), op, value, until, None, 0)

    def send(bit, number):
        if bit:
            call(0, word, ctypes.byref(ctypes.create_string_buffer(struct.pack("qq", 0, int(SLOT * 0.9e9)))))

    def read(number):
        return call(1, 1, None) > 0

    return send, read


def watched():
    # A file that no other program opens meanwhile.
    shared = os.path.join(os.path.dirname(SHARED), "this.py")
    watch = LIBC.inotify_init1(os.O_NONBLOCK)
    LIBC.inotify_add_watch(watch, os.fsencode(shared), 0x20)

    def send(bit, number):
        if bit:
            os.close(os.open(shared, os.O_RDONLY))

    def read(number):
        try:
            return bool(os.read(watch, 65536))
        except BlockingIOError:
            return False

    return send, read


def shared_memory():
    place = LIBC.shmget(0x6D657269, 4096, 0o1666)
    if place < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    if ROLE == "send":
        atexit.register(LIBC.shmctl, place, 0, None)
    LIBC.shmat.restype = ctypes.c_void_p
    byte = ctypes.c_char.from_address(LIBC.shmat(place, None, 0))

    def send(bit, number):
        byte.value = bytes([bit])

    return send, lambda number: byte.value != b"\0"


def abstract_socket():
    held = {}

    def send(bit, number):
        held.clear()
        if bit:
            held[0] = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            held[0].bind("\0merit-%d" % number)

    def read(number):
        other = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            other.connect("\0merit-%d" % number)
            return True
        except ConnectionRefusedError:
            return False

    return send, read


def task_count():
    # How many tasks the machine has, as the kernel tells everybody.
    def count():
        info = ctypes.create_string_buffer(256)
        if LIBC.sysinfo(info) < 0:
            raise OSError(ctypes.get_errno(), "sysinfo")
        return struct.unpack_from("H", info, 80)[0]

    usual = count()

    def send(bit, number):
        if bit:
            [threading.Thread(target=time.sleep, args=(SLOT * 0.9,)).start() for _ in range(24)]

    return send, lambda number: count() > usual + 12


def cached_pages():
    fd = os.open(os.path.join(os.path.dirname(SHARED), "_pydecimal.py"), os.O_RDONLY)
    size = os.fstat(fd).st_size // 4096 * 4096
    address = LIBC.mmap(None, ctypes.c_size_t(size), 1, 1, fd, ctypes.c_long(0))

    def send(bit, number):
        if bit:
            os.pread(fd, 4096, 4096 * number)
        else:
            os.posix_fadvise(fd, 4096 * number, 4096, os.POSIX_FADV_DONTNEED)

    def read(number):
        seen = ctypes.create_string_buffer(1)
        if LIBC.mincore(ctypes.c_void_p(address + 4096 * number), ctypes.c_size_t(4096), seen) < 0:
            raise OSError(ctypes.get_errno(), "mincore")
        return bool(seen.raw[0] & 1)

    return send, read


def own_tasks():
    # Whether there is room for another task of this user.
    def send(bit, number):
        if bit:
            [threading.Thread(target=time.sleep, args=(SLOT * 0.9,)).start() for _ in range(200)]

    def read(number):
        try:
            [threading.Thread(target=time.sleep, args=(0.001,)).start() for _ in range(4)]
            return False
        except RuntimeError:
            return True

    return send, read


def pipe_room():
    # Pipes of one user share their memory; past a limit the next are smaller.
    held = []

    def send(bit, number):
        while held:
            os.close(held.pop())
        while bit and len(held) < 4000:
            held.extend(os.pipe())

    def read(number):
        ends = os.pipe()
        os.set_blocking(ends[1], False)
        filled = os.write(ends[1], bytes(1 << 16))
        [os.close(end) for end in ends]
        return filled < 1 << 16

    return send, read


def times_of_files():
    def send(bit, number):
        if bit:
            with open(SHARED, "rb") as file:
                file.read(1)

    before = [os.stat(SHARED).st_atime_ns]

    def read(number):
        now = os.stat(SHARED).st_atime_ns
        before[0], changed = now, now != before[0]
        return changed

    return send, read


CHANNELS = {
    "record-lock": lambda: locked(SHARED),
    "record-lock-on-a-device": lambda: locked("/dev/null"),
    "flock": flocked,
    "futex": futex,
    "inotify": watched,
    "shared-memory": shared_memory,
    "abstract-socket": abstract_socket,
    "task-count": task_count,
    "cached-pages": cached_pages,
    "own-tasks": own_tasks,
    "pipe-room": pipe_room,
    "file-times": times_of_files,
}


def run():
    got = 0
    try:
        send, read = CHANNELS[NAME]()
    except Exception:
        send = read = lambda *_: 0
    for number in range(BITS):
        bit = SECRET >> number & 1
        try:
            if ROLE == "send":
                slot(number, 0.1)
                send(bit, number)
            else:
                slot(number, 0.6)
                got |= int(bool(read(number))) << number
        except Exception:
            pass
    if ROLE == "read":
        print(got)


run()
