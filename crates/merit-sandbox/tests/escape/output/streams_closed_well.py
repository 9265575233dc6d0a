# tries: to close its streams at the end, as some honest programs do; it still ends well
# contained: Ok
import sys
print("heard")
sys.stdout.close()
sys.stderr.close()
