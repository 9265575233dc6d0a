# tries: sys.exit(0) before the code that would judge it
# contained: Exception Ok Killed
# never: judged
import sys
sys.exit(0)
print("jud" + "ged")
