# tries: hard links to files outside its folder
# contained: Ok
import os
for index, target in enumerate(("{{CANARY_FILE}}", "/etc/passwd", os.__file__, "/proc/self/exe", "/usr/bin/python3")):
    def link():
        os.link(target, f"hard{index}", follow_symlinks=True)
        escaped("linked " + target)
    attempt(target, link)
