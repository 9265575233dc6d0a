# tries: System V and POSIX shared segments, which outlive their maker
# contained: Ok Exception Refused
IPC_CREAT = 0o1000
for key in range(64):
    result = syscall("shmget", 0x6d650000 + key, 1 << 28, IPC_CREAT | 0o666)
    if result >= 0:
        escaped("a shared segment was made")
        break
print("shmget ->", result)
result = syscall("msgget", 0x6d65, IPC_CREAT | 0o666)
print("msgget ->", result)
result = syscall("semget", 0x6d65, 1, IPC_CREAT | 0o666)
print("semget ->", result)
from multiprocessing import shared_memory
attempt("shared_memory", lambda: shared_memory.SharedMemory(name="merit-left", create=True, size=1 << 20))
