# tries: to set the harness's alarm to fire inside its report
# contained: Ok Exception Killed Time
# limits: seconds=2
import signal
def again(*_):
    raise RuntimeError("in the middle of the report")
class Late:
    def __repr__(self):
        signal.signal(signal.SIGALRM, again)
        signal.setitimer(signal.ITIMER_REAL, 0.00001, 0.00001)
        return "late"
Late()
