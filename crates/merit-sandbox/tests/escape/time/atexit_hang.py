# tries: to hang after its last line, in an exit handler
# contained: Ok Time
# limits: seconds=1
import atexit
def stay():
    while True:
        pass
atexit.register(stay)
print("done")
