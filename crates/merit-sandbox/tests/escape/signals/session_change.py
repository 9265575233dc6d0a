# tries: to leave the process group and session it will be killed by
# contained: Ok Exception Time
# limits: seconds=1
import os, time
attempt("setsid", os.setsid)
attempt("setpgid", lambda: os.setpgid(0, 0))
attempt("setpgrp", os.setpgrp)
time.sleep(1000)
