# tries: a process of the host by its number, by every call that sends signals
# contained: Ok Refused
import ctypes, os
for pid in (int("{{VICTIM}}"), int("{{TEST_PID}}")):
    for name, *arguments in (("kill", pid, 9), ("tkill", pid, 9), ("tgkill", pid, pid, 9)):
        result = syscall(name, *arguments)
        print(name, pid, "->", result)
    information = ctypes.create_string_buffer(128)
    print("queue", syscall("rt_sigqueueinfo", pid, 9, information))
    print("thread queue", syscall("rt_tgsigqueueinfo", pid, pid, 9, information))
