# tries: errors without end
# contained: Output
import sys
while True:
    print("x" * 1000, file=sys.stderr)
