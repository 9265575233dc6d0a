# tries: to spin in many threads so that no other code gets its turn
# contained: Time
# limits: seconds=0.5
import sys, threading
sys.setswitchinterval(1000)
def spin():
    while True:
        pass
for _ in range(4):
    threading.Thread(target=spin, daemon=True).start()
spin()
