# tries: to block every signal
# contained: Time
# limits: seconds=0.5
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 65)))
while True:
    pass
