# tries: to close everything, the way to its report as well
# contained: Ok Killed Exception
import os
print("before")
os.closerange(0, 4096)
