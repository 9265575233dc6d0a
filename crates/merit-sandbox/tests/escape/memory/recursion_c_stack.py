# tries: to overflow the C stack by nesting that the recursion check counts late
# contained: Ok Exception Memory Killed Time
# limits: seconds=3
import sys, pickle
sys.setrecursionlimit(10**9)
nested = []
for _ in range(2_000_000):
    nested = [nested]
attempt("repr", lambda: repr(nested))
attempt("compare", lambda: nested == [nested])
def down(n):
    return down(n + 1)
down(0)
