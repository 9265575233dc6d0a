# tries: to read the host's users
# contained: Ok
# never: root:x:0
# never: root:*:
# bare: root:x:0
for path in ("/etc/passwd", "/etc//passwd", "/./etc/passwd", "/proc/self/root/etc/passwd", "/usr/../etc/passwd", "/etc/passwd-"):
    attempt(path, lambda: print(open(path).read()))
