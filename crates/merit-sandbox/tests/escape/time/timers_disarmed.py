# tries: to disarm or push away every timer that could end it
# contained: Time
# limits: seconds=0.5
import ctypes, signal
while True:
    for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
        signal.setitimer(which, 0)
    signal.alarm(0)
    for timer in range(64):
        ctypes.CDLL(None).syscall(226, timer)
