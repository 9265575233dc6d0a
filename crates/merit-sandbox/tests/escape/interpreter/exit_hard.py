# tries: os._exit(0), which no harness can catch; must not count as success
# contained: Exception Killed
import os
print("before")
os._exit(0)
