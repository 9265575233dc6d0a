# tries: to see the host's temporary folders
# contained: Ok
# bare: merit-escape-bait
import os
for folder in ("/tmp", "/var/tmp", "{{TEMP}}", "/dev/shm", "/run/user/0"):
    attempt(folder, lambda: print(folder, os.listdir(folder)))
print(os.path.exists("{{CANARY_FILE}}"))
if os.path.exists("{{CANARY_FILE}}"):
    print("merit-escape" + "-bait")
