# tries: a result whose repr recurses without end
# contained: Ok Exception Killed Memory
import sys
sys.setrecursionlimit(10**8)
class Deep:
    def __repr__(self):
        return repr([Deep()])
Deep()
