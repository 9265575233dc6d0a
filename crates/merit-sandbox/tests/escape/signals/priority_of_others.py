# tries: to slow or pin others and to raise itself
# contained: Ok
import os
parent = os.getppid()
for pid in (1, parent, int("{{VICTIM}}"), int("{{TEST_PID}}")):
    if pid != os.getpid():
        attempt(f"nice {pid}", lambda: (os.setpriority(os.PRIO_PROCESS, pid, 19), escaped("slowed another process")) if pid else None)
        attempt(f"pin {pid}", lambda: (os.sched_setaffinity(pid, {0}), escaped("pinned another process")) if pid else None)
attempt("nice -20", lambda: (os.nice(-20), escaped("raised itself")))
attempt("real time", lambda: (os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99)), escaped("real-time priority")))
