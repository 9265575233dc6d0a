# tries: a traceback of a thousand frames with long lines
# contained: Exception
import sys
sys.setrecursionlimit(5000)
exec("def f(n):\n    " + "x = 1; " * 2000 + "return f(n + 1)")
f(0)
