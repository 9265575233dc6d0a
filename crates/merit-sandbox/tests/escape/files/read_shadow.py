# tries: to read the host's secrets
# contained: Ok
# never: root:
# never: PRIVATE KEY
for path in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/root/.ssh/id_rsa", "/etc/ssh/ssh_host_rsa_key", "/etc/machine-id", "/etc/hosts"):
    attempt(path, lambda: (print(open(path).read()), escaped("read " + path)))
