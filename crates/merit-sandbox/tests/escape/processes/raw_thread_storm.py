# tries: threads by the lowest module, each starting two more
# contained: Ok Exception Processes Memory Time Killed
# limits: seconds=2
import _thread, time
def grow():
    for _ in range(2):
        try:
            _thread.start_new_thread(grow, ())
        except RuntimeError:
            pass
    time.sleep(30)
grow_main = 0
while grow_main < 1000:
    _thread.start_new_thread(grow, ())
    grow_main += 1
