# tries: to leave with a failing status; must not count as success
# contained: Exception Killed
import sys
sys.exit(1)
