# tries: to lift its own limits, then to use the room
# contained: Memory
import resource
for name in ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_STACK", "RLIMIT_RSS", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_CPU", "RLIMIT_NOFILE"):
    limit = getattr(resource, name)
    attempt(name + " all", lambda: resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
    hard = resource.getrlimit(limit)[1]
    attempt(name + " hard", lambda: resource.setrlimit(limit, (hard, hard)))
    attempt(name + " prlimit", lambda: resource.prlimit(0, limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
held = []
while len(held) < 4096:
    held.append(bytearray(1 << 20))
escaped("4 GiB held")
