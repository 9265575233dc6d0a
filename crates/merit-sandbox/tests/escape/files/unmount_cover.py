# tries: to unmount what hides the host
# contained: Ok Refused
for path in (b"/", b"/tmp", b"/proc", b"/dev", b"/usr", b"/lib", b"/etc"):
    for flags in (0, 1, 2, 8):
        refused(f"umount {path} {flags}", "umount2", path, flags)
