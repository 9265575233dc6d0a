# The files a program may see: the interpreter's own folders, read-only, and two devices, in a root of their own.

# Not /dev/zero: mapped as shared, it is memory that no limit counts.
DEVICES = ("/dev/null", "/dev/urandom")


def interpreter_folders(packages):
    # Where modules and shared libraries come from: sys.path, the folders of libraries mapped right now, the platform's
    # library folders and the time zones. Never a whole home, /etc, /proc or /sys.
    folders = [path for path in sys.path if os.path.isdir(path)] + list(packages)
    with open("/proc/self/maps") as maps:
        mapped = {line.split(None, 5)[5].strip() for line in maps if line.count("/")}
    folders += [os.path.dirname(path) for path in mapped if ".so" in os.path.basename(path)]
    libraries = getattr(sys.implementation, "_multiarch", "")
    folders += ["/lib/" + libraries, "/usr/lib/" + libraries] if libraries else []
    folders += ["/lib64", "/usr/lib64", "/usr/share/zoneinfo"]
    real = {os.path.realpath(path) for path in folders if os.path.isdir(path)}
    bare = {"/", os.path.realpath(os.path.expanduser("~")), "/root", "/home", "/etc", "/usr", "/proc", "/sys"}
    return outermost(sorted(real - bare))


def outermost(paths):
    kept = []
    for path in paths:
        if not any(path.startswith(other + "/") for other in kept):
            kept.append(path)
    return kept


def check_reachable(folders):
    for folder in folders:
        for above in [folder] + [folder[:at] for at, letter in enumerate(folder) if letter == "/" and at]:
            if not os.stat(above).st_mode & 0o001:
                raise OSError(errno.EACCES, "without mount-namespace, programs run as nobody must reach the interpreter, "
                              "but %s is closed to others; name another interpreter" % above)


def read_only(target, recursive):
    # Nosuid and nodev besides; mount_setattr came with Linux 5.12.
    change = struct.pack("=QQQQ", MS_RDONLY | MS_NOSUID | MS_NODEV, 0, 0, 0)
    try:
        syscall(
            "mount_setattr", SYS_MOUNT_SETATTR, -100, os.fsencode(target), 0x8000 if recursive else 0, change,
            ctypes.c_size_t(len(change)),
        )
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        keep = os.statvfs(target).f_flag & (MS_NOEXEC | 1024 | 2048)
        flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | keep
        mount(None, target, None, flags)


def show(folder, target, empty):
    # An overlay has files of its own: whoever watches the folder outside does not see what is opened here, and nothing that is
    # done to a file here is done to the one outside. Where the kernel has none for us, the folder itself.
    inside = [line.split()[4] for line in open("/proc/self/mountinfo")]
    if not any(point.startswith(folder + "/") for point in inside) and not set(folder) & set(":,\\"):
        try:
            mount("merit", target, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, "lowerdir=%s:%s" % (folder, empty))
            return
        except OSError:
            pass
    mount(folder, target, None, MS_BIND | MS_REC)
    read_only(target, recursive=True)


def build_root(folders):
    # In: a mount namespace of our own. Out: it holds `folders`, two devices and an empty /tmp, and nothing else.
    hidden = [folder for folder in folders if (folder + "/").startswith("/tmp/")]
    if hidden:
        raise OSError(errno.EINVAL, "%s lies below /tmp, which every program gets as its own; move it" % hidden[0])
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    base = "/tmp"
    mount("merit", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=4096,mode=0755")
    os.mkdir(base + "/.empty", 0o755)
    for folder in folders:
        target = base + folder
        os.makedirs(target, exist_ok=True)
        show(folder, target, base + "/.empty")
    for link in ("/lib", "/lib64"):
        if os.path.islink(link) and not os.path.lexists(base + link):
            os.symlink(os.readlink(link), base + link)
    os.makedirs(base + "/dev")
    for device in DEVICES:
        with open(base + device, "w"):
            pass
        mount(device, base + device, None, MS_BIND)
    os.mkdir(base + "/tmp", 0o755)
    os.mkdir(base + "/.old")
    pivot_root(base, base + "/.old")
    os.chdir("/")
    checked(LIBC.umount2(b"/.old", MNT_DETACH), "umount the host's root")
    os.rmdir("/.old")
    read_only("/", recursive=False)
