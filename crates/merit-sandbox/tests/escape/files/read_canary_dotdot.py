# tries: the same file by climbing out of the working folder
# contained: Ok
# bare: canary-file
for ups in range(1, 40):
    attempt(ups, lambda: print(open("../" * ups + "{{CANARY_FILE}}"[1:]).read()))
