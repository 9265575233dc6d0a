# tries: to stop itself so that nothing of it runs at its deadline
# contained: Time Killed Exception
# limits: seconds=0.5
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
while True:
    pass
