# tries: to abort
# contained: Killed
import os
os.abort()
