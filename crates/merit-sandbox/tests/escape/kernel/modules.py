# tries: to load code into the kernel or start another one
# contained: Ok Refused
refused("init_module", "init_module", b"\x7fELF", 4, b"")
refused("finit_module", "finit_module", 0, b"", 0)
refused("delete_module", "delete_module", b"x", 0)
refused("kexec_load", "kexec_load", 0, 0, 0, 0)
refused("kexec_file_load", "kexec_file_load", -1, -1, 0, b"", 8)
