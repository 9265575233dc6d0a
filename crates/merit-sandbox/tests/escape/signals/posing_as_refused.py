# tries: to die by the filter's own signal without a refused call
# contained: Ok Killed Refused
import signal
signal.signal(signal.SIGSYS, signal.SIG_DFL)
signal.raise_signal(signal.SIGSYS)
