# tries: to sleep
# contained: Time
# limits: seconds=0.5
import time
time.sleep(10**6)
