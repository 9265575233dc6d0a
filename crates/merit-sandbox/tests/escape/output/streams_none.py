# tries: to switch its streams off, as some honest programs do; it still ends well
# contained: Ok
import sys
sys.stdout = sys.stderr = None
print("nobody hears")
