# tries: to make its read-only root writable
# contained: Ok Refused
MS_REMOUNT, MS_BIND = 32, 4096
for path in (b"/", b"/usr", b"/lib", b"/usr/lib", b"/usr/local", b"/proc"):
    refused(f"remount {path}", "mount", b"none", path, 0, MS_REMOUNT | MS_BIND, 0)
    refused(f"plain remount {path}", "mount", b"none", path, 0, MS_REMOUNT, 0)
