# tries: streams that are no streams
# contained: Ok Exception
import sys
sys.stdout = None
sys.stderr = 7
print("nobody hears")
