# tries: to empty the module table
# contained: Ok Exception Killed
import sys
sys.modules.clear()
