# tries: to read from a pipe nobody writes to
# contained: Time
# limits: seconds=0.5
import os
os.read(os.pipe()[0], 1)
