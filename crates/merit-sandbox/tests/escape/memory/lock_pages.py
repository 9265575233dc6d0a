# tries: to pin memory, and to make the kernel kill someone else first
# contained: Ok
result = syscall("mlockall", 3)
print("mlockall ->", result)
def spare_me():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    escaped("out-of-memory score lowered")
attempt("oom_score_adj", spare_me)
