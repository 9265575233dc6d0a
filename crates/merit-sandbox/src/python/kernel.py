# What the kernel is asked for that Python's library does not offer: namespaces, mounts, landlock, seccomp.
#
# Every function raises OSError with the kernel's error. The files of this folder are joined into one program; the order
# is in ../source.rs.

import sys

sys.path[:] = [path for path in sys.path if path]  # the current folder is nobody's library

import array
import ctypes
import errno
import gc
import json
import os
import resource
import select
import signal
import struct

import _socket

LIBC = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 1, 4, 22, 24, 36
PR_SET_NO_NEW_PRIVS = 38

SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
# These have one number on every architecture.
SYS_CLOSE_RANGE, SYS_MOUNT_SETATTR = 436, 442
SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 444, 445, 446
MACHINE = os.uname().machine


def checked(result, what):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, "%s: %s" % (what, os.strerror(code)))
    return result


def syscall(what, number, *arguments):
    return checked(LIBC.syscall(ctypes.c_long(number), *arguments), what)


def unshare(flags):
    checked(LIBC.unshare(flags), "unshare")


def setns(fd, kind):
    checked(LIBC.setns(fd, kind), "setns")


def prctl(option, value=0):
    checked(LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0), "prctl %d" % option)


def mount(source, target, kind, flags, options=None):
    text = lambda part: None if part is None else os.fsencode(part)
    checked(
        LIBC.mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(options)),
        "mount %s" % target,
    )


def pivot_root(new, old):
    syscall("pivot_root", SYS_PIVOT_ROOT[MACHINE], os.fsencode(new), os.fsencode(old))


def drop_capabilities():
    header = struct.pack("=Ii", 0x20080522, 0)
    syscall("capset", SYS_CAPSET[MACHINE], header, bytes(24))


def drop_bounding_set():
    for capability in range(64):
        if LIBC.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break


def close_from(first):
    if LIBC.syscall(ctypes.c_long(SYS_CLOSE_RANGE), first, ctypes.c_uint(0xFFFFFFFF), 0) < 0:
        os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def seccomp_program(code):
    return Filter(len(code) // 8, code)


def install_seccomp(program):
    checked(LIBC.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.byref(program), 0, 0), "seccomp")


# Landlock's rights over files: which ABI version brought each.
READ_FILE, READ_DIR = 1 << 2, 1 << 3
FILE_RIGHTS = 0b111 | 1 << 14 | 1 << 15
# Write, truncate, remove, make folders, files, fifos and links, move between folders. No devices, sockets, programs.
TMP_RIGHTS = READ_FILE | READ_DIR | sum(1 << bit for bit in (1, 4, 5, 7, 8, 10, 12, 13, 14))


def landlock_abi():
    try:
        return syscall("landlock", SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    except OSError:
        return 0


def landlock_handled(abi):
    bits = 13 + (abi >= 2) + (abi >= 3)
    files = (1 << bits) - 1 | (1 << 15 if abi >= 5 else 0)
    return files, (3 if abi >= 4 else 0), (3 if abi >= 6 else 0)


def landlock_detail(abi):
    parts = ["files"] + ["network"] * (abi >= 4) + ["devices"] * (abi >= 5) + ["signals"] * (abi >= 6)
    missing = [name for name, since in (("network", 4), ("devices", 5), ("signals", 6)) if abi < since]
    text = "ABI %d: %s" % (abi, ", ".join(parts))
    return text + ("; this kernel's landlock does not cover %s" % ", ".join(missing) if missing else "")


def install_landlock(abi, rules):
    files, network, scopes = landlock_handled(abi)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    attributes = struct.pack("=QQQ", files, network, scopes)[:size]
    ruleset = syscall("landlock_create_ruleset", SYS_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0)
    for path, rights in rules:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", rights & files, beneath)
        syscall("landlock_add_rule", SYS_LANDLOCK_ADD, ruleset, 1, rule, 0)
        os.close(beneath)
    syscall("landlock_restrict_self", SYS_LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)
