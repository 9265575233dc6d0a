# tries: an output stream whose flush never returns
# contained: Ok Time
# limits: seconds=1
import sys
class Stuck:
    def write(self, text):
        return len(text)
    def flush(self):
        while True:
            pass
sys.stdout = sys.stderr = Stuck()
print("done")
