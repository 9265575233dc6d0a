# tries: a signal handler that never returns
# contained: Time
# limits: seconds=0.5
import signal, time
def stay(*_):
    while True:
        try:
            time.sleep(100)
        except BaseException:
            pass
for number in range(1, 65):
    try:
        signal.signal(number, stay)
    except (OSError, ValueError):
        pass
stay()
