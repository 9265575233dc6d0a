# tries: one line without end
# contained: Output
import sys
while True:
    sys.stdout.write("x")
