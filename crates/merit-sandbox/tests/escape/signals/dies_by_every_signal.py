# tries: every deadly signal in turn
# contained: Ok Killed Exception Time Refused
# limits: seconds=2
import os, signal
for number in (signal.SIGPIPE, signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGTERM, signal.SIGSYS, signal.SIGKILL):
    attempt(number, lambda: signal.signal(number, signal.SIG_DFL))
    attempt(number, lambda: os.kill(os.getpid(), number))
    signal.raise_signal(number)
