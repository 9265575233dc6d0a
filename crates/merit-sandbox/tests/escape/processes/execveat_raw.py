# tries: execveat on an open descriptor with an empty path
# contained: Ok Refused
import ctypes, os, sys
def run():
    fd = os.open("/proc/self/exe", os.O_RDONLY)
    argv = (ctypes.c_char_p * 4)(b"python3", b"-c", b"print('ESC' + 'APED by execveat')", None)
    envp = (ctypes.c_char_p * 1)(None)
    return syscall("execveat", fd, b"", argv, envp, 0x1000)
attempt("execveat", run)
path = sys.executable or "/usr/bin/python3"
argv = (ctypes.c_char_p * 4)(b"python3", b"-c", b"print('ESC' + 'APED by execve')", None)
print("execve ->", syscall("execve", path.encode(), argv, (ctypes.c_char_p * 1)(None)))
