# tries: to hang in a finalizer while the interpreter clears up
# contained: Ok Time
# limits: seconds=1
class Clinging:
    def __del__(self):
        while True:
            pass
import sys
kept = Clinging()
sys.modules["clinging"] = kept
print("done")
