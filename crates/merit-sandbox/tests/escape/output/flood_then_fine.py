# tries: one enormous write, then a normal end
# contained: Output
import sys
sys.stdout.write("x" * (1 << 24))
print("done")
