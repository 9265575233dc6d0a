# tries: both streams by turns
# contained: Output
import sys
while True:
    sys.stdout.write("o" * 100)
    sys.stderr.write("e" * 100)
