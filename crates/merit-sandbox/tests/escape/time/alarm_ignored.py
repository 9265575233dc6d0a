# tries: to ignore every signal that can be ignored
# contained: Time
# limits: seconds=0.5
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
