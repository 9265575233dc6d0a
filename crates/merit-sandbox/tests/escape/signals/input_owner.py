# tries: to have the kernel signal someone else when input comes
# contained: Ok
import fcntl, os, signal
read_end, write_end = os.pipe()
for pid in (1, os.getppid(), int("{{VICTIM}}"), int("{{TEST_PID}}")):
    if pid == os.getpid():
        continue
    def own():
        fcntl.fcntl(read_end, fcntl.F_SETOWN, pid)
        fcntl.fcntl(read_end, 10, signal.SIGKILL)
        fcntl.fcntl(read_end, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.write(write_end, b"x")
    attempt(pid, own)
