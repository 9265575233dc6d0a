# tries: links to host folders, hoping that cleaning up follows them
# contained: Ok
import os
for index, target in enumerate(("{{TEMP}}", "{{CANARY_FILE}}", "/tmp", "/", "/etc", "/work")):
    attempt(target, lambda: os.symlink(target, f"bait{index}"))
os.mkdir("folder")
os.symlink("{{TEMP}}", "folder/inside")
